/** One live list: the records of a list, what becomes of them, and the rights of the client that follows it. */

import { HttpError } from '../../http/errors/errors.ts'
import { liveEnded, responseTooLarge } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { errorHandler } from '../../http/response/error-handler.ts'
import type { Model } from '../../model/model.ts'
import { isSameContent, matches, numbersIn } from '../../ports/evaluation/evaluate.ts'
import type { LoggedChange } from '../../ports/store/changes.ts'
import type { Filter } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields } from '../../ports/store/records.ts'
import { comparedOf } from '../engine/known-updates.ts'
import type { OpenStream } from '../engine/open-streams.ts'
import { type Asker, GuardResponse, markOf, type Rights } from '../list/rights.ts'
import { shownTexts } from '../read/read.ts'
import type { Resource } from '../setup/resource.ts'
import { Events } from './events.ts'
import { type Hub, type Listener, Rounds } from './hub.ts'

/**
 * How often rights are asked again, at least and at most, and for how long an answer is good, in milliseconds. Those of
 * many lists that were opened at once are soon asked at different moments.
 */
const ASK_MS = [3000, 4000] as const
const GOOD_MS = 4500
const COMMENT_MS = 15_000
/** The most events that wait for being shown. */
const MOST_WAITING = 10_000

/** What has happened to the list: the record to show, if it is in it now; and the old one, if `output` changes what is seen. */
interface Item {
  readonly id: string
  readonly record: string
  readonly shown: Fields | undefined
  readonly old: Fields | undefined
}

export class LiveStream extends Rounds implements Listener, OpenStream {
  readonly events: Events
  readonly #resource: Resource
  readonly #hub: Hub
  readonly #asker: Asker
  #rights: Rights
  /** When they are asked again. */
  askAt = 0
  /** What follows a position in an event's id. */
  #mark = ''
  #isAsking = false
  /** How often the account has changed, and after how many of these changes was asked. */
  #changes = 0
  #asked = 0
  #queue: Item[] = []
  /** What arrives while older entries are read; undefined otherwise. */
  #later: LoggedChange[] | undefined
  /** What comes up to this position is in the list that was sent. */
  #after = ''
  #mustRestart = false
  #isOpen = false
  #hasEnded = false

  constructor(resource: Resource, hub: Hub, asker: Asker, rights: Rights) {
    super()
    this.#resource = resource
    this.#hub = hub
    this.#asker = asker
    this.#rights = rights
    this.events = new Events(() => this.#leave())
    this.#askLater()
  }

  get model(): Model {
    return this.#resource.model
  }

  get filter(): Filter {
    return this.#rights.filter
  }

  /** Opens it: after the event with the id `last`, if that is known, else with the list. Throws what refuses it. */
  async open(last: string | undefined): Promise<void> {
    this.#resource.host.streams.add(this)
    try {
      this.#mark = markOf(this.#resource, this.#rights)
      await this.#hub.join(this)
      const isKnown = last !== undefined && (await this.#goOnAfter(last))
      if (!isKnown) await this.#sendList()
    } catch (error) {
      this.#leave()
      throw error
    }
    this.#isOpen = true
    this.ring()
  }

  take(change: LoggedChange): void {
    if (this.#mustRestart || this.#hasEnded) return
    if (this.#later) this.#later.push(change)
    else this.#add(change)
    if (this.#queue.length + (this.#later?.length ?? 0) > MOST_WAITING) this.missed()
  }

  missed(): void {
    this.#mustRestart = true
    this.#queue = []
    this.#later = undefined
    this.ring()
  }

  due(now: number): number {
    if (now - this.events.sentAt >= COMMENT_MS) this.events.comment()
    this.#asker.giveUp(now)
    if (now >= this.askAt) void this.#askAgain()
    return Math.min(this.askAt, this.events.sentAt + COMMENT_MS)
  }

  async end(error: unknown): Promise<void> {
    if (this.#hasEnded) return
    this.#leave()
    this.events.send('end', await failureOf(error, this.#asker.request(), this.#resource))
    this.events.end()
  }

  async #sendList(): Promise<void> {
    const { engine, maxLimit, maxResponseBytes, hints } = this.#resource
    const rights = this.#rights
    const { filter, sort, view, request } = rights
    this.#mustRestart = false
    this.#queue = []
    // Before the list, so that nothing is missed.
    const position = await this.#hub.log.position()
    const read = { filter, sort, limit: maxLimit, hints }
    const found = await engine.stored.find({ ...read, ...(view.select && { select: view.select }) })
    const texts = await shownTexts(this.#resource, view, found, request)
    const numbers = numbersIn(sort, comparedOf(engine))
    const told = numbers.length > 0 ? `,"numbers":${JSON.stringify(numbers)}` : ''
    const data = `{"data":[${texts.join(',')}]${told}}`
    if (data.length > maxResponseBytes) throw responseTooLarge()
    this.#after = position
    this.#queue = this.#queue.filter(({ id }) => id > position)
    const { rules, reach } = this.#rights
    if (rights.rules === rules && rights.reach === reach)
      this.events.send('records', data, position + this.#mark)
    else this.missed()
  }

  /** Goes on after the event with the id `last`; resolves to whether that is known. */
  async #goOnAfter(last: string): Promise<boolean> {
    const [position = '', ...marks] = last.split('.')
    const mark = marks.map((one) => `.${one}`).join('')
    // Under other rules other records were in the list; another version of the app showed them in another way.
    if (!/^[A-Za-z0-9-]+$/.test(position) || position.length > 200 || mark !== this.#mark)
      return false
    this.#later = []
    const missed = await this.#hub.missedAfter(position, this.model.name)
    if (!missed) {
      this.#later = undefined
      return false
    }
    this.#after = position
    for (const change of missed) this.#add(change)
    this.#after = missed.at(-1)?.id ?? position
    for (const change of this.#later ?? []) this.#add(change)
    this.#later = undefined
    return true
  }

  /** Keeps in mind what a change does to the list. */
  #add({ id, before, after }: LoggedChange): void {
    if (id <= this.#after) return
    const { view } = this.#rights
    const [was, is] = [this.#inList(before), this.#inList(after)]
    if (!was && !is) return
    const record = String((after ?? before)?._id)
    const [old, shown] = [was, is].map((one) => one && project(one, view.select))
    // What changed may be nothing that the client may see.
    if (old && shown && isSameContent(old, shown)) return
    this.#queue.push({ id, record, shown, old: this.model.output && old })
    this.ring()
  }

  #inList(record: Fields | null): Fields | undefined {
    const { engine } = this.#resource
    return record && matches(this.#rights.filter, record, comparedOf(engine)) ? record : undefined
  }

  /** If a change is one of the client's account, asks at once, and shows nothing until it is known what that means. */
  takeAccount({ before, after }: LoggedChange): void {
    if (String((after ?? before)?._id) !== this.#rights.userId) return
    this.#changes += 1
    void this.#askAgain()
  }

  protected async round(): Promise<void> {
    try {
      while (this.#isOpen && !this.#hasEnded && (await this.#goOn()));
    } catch (error) {
      void this.end(error)
    }
  }

  /** Does the next thing that there is to do; resolves to false if there is none now. */
  async #goOn(): Promise<boolean> {
    if (!this.#mustRestart && this.#queue.length === 0) return false
    if (this.#asked < this.#changes || performance.now() - this.#rights.askedAt > GOOD_MS) {
      await this.#askAgain()
      return !this.#isAsking
    }
    if (this.#mustRestart) await this.#sendList()
    else await this.#sendNext()
    return true
  }

  async #sendNext(): Promise<void> {
    const rights = this.#rights
    const item = this.#queue.shift()
    if (!item) return
    const { id, record, shown, old } = item
    if (!shown)
      return this.events.send('unset', JSON.stringify({ data: { _id: record } }), id + this.#mark)
    const textOf = async (one: Fields) =>
      (await shownTexts(this.#resource, rights.view, [one], rights.request))[0]
    const text = await textOf(shown)
    const isSame = old !== undefined && (await textOf(old)) === text
    // Meanwhile the client may have got other rights, and with them another list.
    if (this.#hasEnded) return
    if (rights !== this.#rights || this.#asked < this.#changes) this.#queue.unshift(item)
    else if (!isSame) this.events.send('set', `{"data":${text}}`, id + this.#mark)
  }

  async #askAgain(): Promise<void> {
    if (this.#isAsking || this.#hasEnded) return
    this.#isAsking = true
    const changes = this.#changes
    this.#askLater()
    try {
      const rights = await this.#asker.ask()
      const { rules, reach, filter, view } = this.#rights
      const isOther = rights.rules !== rules || rights.reach !== reach
      // The same rules are kept, so that each list has them once.
      if (!isOther) this.#rights = { ...rights, ...{ rules, reach, filter, view } }
      else {
        this.#hub.move(this, () => {
          this.#rights = rights
        })
        this.#mark = markOf(this.#resource, rights)
        this.missed()
      }
      this.#asked = changes
    } catch (error) {
      void this.end(error)
    } finally {
      this.#isAsking = false
      if (this.#mustRestart || this.#queue.length > 0) this.ring()
    }
  }

  #askLater(): void {
    const [least, most] = ASK_MS
    this.askAt = performance.now() + least + Math.random() * (most - least)
  }

  #leave(): void {
    this.#hasEnded = true
    this.#queue = []
    this.#resource.host.streams.remove(this)
    this.#hub.leave(this)
  }
}

const fail = errorHandler()
const silent = { info() {}, error() {}, warn() {} }

/** The envelope of a failure, with its status. */
async function failureOf(error: unknown, request: ApiRequest, { host }: Resource): Promise<string> {
  // Many end at once when the app closes, or the database is gone: that is logged elsewhere, once.
  const isOutage = error instanceof HttpError && error.status === 503
  const context = { logger: isOutage ? silent : host.logger } as Parameters<typeof fail>[2]
  const response =
    error instanceof GuardResponse ? error.response : await fail(error, request, context)
  const text = await response.text().catch(() => '')
  let envelope: object = { success: false, error: liveEnded().message }
  try {
    envelope = Object(JSON.parse(text))
  } catch {
    // The response of a guard of your own.
  }
  return JSON.stringify({ ...envelope, status: response.status })
}
