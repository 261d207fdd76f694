/**
 * One live list: the records of a list, what becomes of them, and the rights of the client that follows it.
 *
 * @module
 */

import { hintsFor } from '../../http/deadline.ts'
import { errorHandler } from '../../http/error-handler.ts'
import { HttpError } from '../../http/errors.ts'
import { liveEnded, responseTooLarge } from '../../http/refusals.ts'
import { projected } from '../../model/present.ts'
import { underCurrentNames } from '../../model/renamed.ts'
import type { LoggedChange } from '../../ports/changes.ts'
import { matches } from '../../ports/evaluate.ts'
import { isSameContent } from '../../ports/same-content.ts'
import type { Fields } from '../../ports/store.ts'
import type { OpenStream } from '../engine/open-streams.ts'
import { shownTexts } from '../read/read-page.ts'
import type { Resource } from '../setup/resource.ts'
import { Events } from './events.ts'
import type { Hub, Listener } from './hub.ts'
import { type Ask, GuardResponse, type Rights } from './rights.ts'

/** How often rights are asked again, and for how long an answer is good, in milliseconds. */
const ASK_MS = 3500
const GOOD_MS = 4500
const COMMENT_MS = 15_000
/** The most events that wait for being shown. */
const MOST_WAITING = 10_000
/** The most entries that are read to go on after a position. */
const MOST_MISSED = 1000

/** Something that has happened to the list: the record to show, or undefined if it is not in it any more. */
interface Item {
  readonly id: string
  readonly record: string
  readonly shown: Fields | undefined
}

/** A list that is followed. */
export class LiveStream implements Listener, OpenStream {
  readonly events: Events
  readonly #resource: Resource
  readonly #hub: Hub
  readonly #ask: Ask
  #rights: Rights
  /** What follows a position in an event's id. */
  #mark = ''
  #isAsking = false
  #mustAsk = false
  #queue: Item[] = []
  /** What arrives while older entries are read; undefined otherwise. */
  #later: LoggedChange[] | undefined
  /** What comes up to this position is in the list that was sent. */
  #after = ''
  #mustRestart = false
  #hasEnded = false
  #bell = Promise.withResolvers<void>()

  constructor(resource: Resource, hub: Hub, ask: Ask, rights: Rights) {
    this.#resource = resource
    this.#hub = hub
    this.#ask = ask
    this.#rights = rights
    this.events = new Events(() => this.#leave())
  }

  /** Opens it: after the event with the id `last`, if that is known, else with the list. Throws what refuses it. */
  async open(last: string | undefined): Promise<void> {
    this.#resource.host.streams.add(this)
    try {
      this.#mark = await markOf(this.#rights.rules)
      await this.#hub.join(this)
      const isKnown = last !== undefined && (await this.#goOnAfter(last))
      if (!isKnown) await this.#sendList()
    } catch (error) {
      this.#leave()
      throw error
    }
    void this.#run()
  }

  take(change: LoggedChange): void {
    const { model } = this.#resource
    if (change.model !== model.name) this.#noteAccount(change)
    else if (this.#mustRestart) return
    else if (this.#later) this.#later.push(change)
    else this.#add(change)
    if (this.#queue.length + (this.#later?.length ?? 0) > MOST_WAITING) this.missed()
  }

  missed(): void {
    this.#mustRestart = true
    this.#queue = []
    this.#later = undefined
    this.#bell.resolve()
  }

  tick(): void {
    const now = performance.now()
    if (now - this.events.sentAt >= COMMENT_MS) this.events.comment()
    if (now - this.#rights.askedAt >= ASK_MS) void this.#askAgain()
  }

  end(error: unknown): void {
    if (!this.#hasEnded) void this.#endWith(error)
  }

  /** Sends the list as it is now. */
  async #sendList(): Promise<void> {
    const { engine, maxLimit, maxResponseBytes, hints } = this.#resource
    const rights = this.#rights
    const { filter, sort, view, request } = rights
    this.#mustRestart = false
    this.#queue = []
    // Before the list, so that nothing is missed.
    const position = await this.#hub.log.position()
    const read = { filter, sort, limit: maxLimit, hints: hintsFor(hints, request) }
    const found = await engine.stored.find({ ...read, ...(view.select && { select: view.select }) })
    const texts = await shownTexts(this.#resource, view, found, request)
    const data = `{"data":[${texts.join(',')}]}`
    if (data.length > maxResponseBytes) throw responseTooLarge()
    this.#after = position
    this.#queue = this.#queue.filter(({ id }) => id > position)
    if (rights.rules === this.#rights.rules)
      this.events.send('records', data, position + this.#mark)
    else this.missed()
  }

  /** Goes on after the event with the id `last`; resolves to whether that is known. */
  async #goOnAfter(last: string): Promise<boolean> {
    const [position = '', ...marks] = last.split('.')
    const mark = marks.map((one) => `.${one}`).join('')
    // Under other rules other records were in the list.
    if (!/^[A-Za-z0-9-]+$/.test(position) || position.length > 200 || mark !== this.#mark)
      return false
    this.#later = []
    const { name } = this.#resource.model
    const read = await this.#hub.log.read(position, { limit: MOST_MISSED, models: [name] })
    // With more than that to tell, the list itself is shorter.
    if ('gone' in read || read.changes.length === MOST_MISSED) {
      this.#later = undefined
      return false
    }
    this.#after = position
    for (const change of read.changes) this.#add(change)
    this.#after = read.changes.at(-1)?.id ?? position
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
    const shown = is && projected(is, view.select)
    // What changed may be nothing that the client may see.
    if (was && shown && isSameContent(projected(was, view.select), shown)) return
    this.#queue.push({ id, record, shown })
    this.#bell.resolve()
  }

  /** A stored record, if the list has it. */
  #inList(stored: Fields | null): Fields | undefined {
    const { renamed } = this.#resource.model
    const record = stored && renamed.size > 0 ? underCurrentNames(stored, renamed) : stored
    return record && matches(this.#rights.filter, record) ? record : undefined
  }

  /** If a change is one of the client's account, asks at once, and shows nothing until it is known what that means. */
  #noteAccount({ model, before, after }: LoggedChange): void {
    const { userId } = this.#rights.request.auth ?? {}
    if (userId === undefined || String((after ?? before)?._id) !== userId) return
    if (![...this.#resource.host.accounts.keys()].some(({ name }) => name === model)) return
    this.#mustAsk = true
    void this.#askAgain()
  }

  /** Sends what there is to tell, until it ends. */
  async #run(): Promise<void> {
    try {
      while (!this.#hasEnded) await this.#goOn()
    } catch (error) {
      this.end(error)
    }
  }

  /** Does the next thing that there is to do, or waits for one. */
  async #goOn(): Promise<void> {
    const isIdle = !this.#mustRestart && this.#queue.length === 0
    if (isIdle) await this.#nextRing()
    else if (this.#mustAsk || performance.now() - this.#rights.askedAt > GOOD_MS) {
      await this.#askAgain()
      if (this.#isAsking) await this.#nextRing()
    } else if (this.#mustRestart) await this.#sendList()
    else await this.#sendNext()
  }

  /** Resolves when there may be something to do. */
  async #nextRing(): Promise<void> {
    await this.#bell.promise
    this.#bell = Promise.withResolvers()
  }

  async #sendNext(): Promise<void> {
    const rights = this.#rights
    const item = this.#queue.shift()
    if (!item) return
    const { id, record, shown } = item
    if (!shown) {
      this.events.send('unset', unset(record), id + this.#mark)
      return
    }
    const [text] = await shownTexts(this.#resource, rights.view, [shown], rights.request)
    // Meanwhile the client may have got other rights, and with them another list.
    if (this.#hasEnded) return
    if (rights !== this.#rights) this.#queue.unshift(item)
    else this.events.send('set', `{"data":${text}}`, id + this.#mark)
  }

  /** Asks what the client may see now. */
  async #askAgain(): Promise<void> {
    if (this.#isAsking || this.#hasEnded) return
    this.#isAsking = true
    this.#mustAsk = false
    try {
      const rights = await this.#ask()
      const isOther = rights.rules !== this.#rights.rules
      const mark = isOther ? await markOf(rights.rules) : this.#mark
      this.#rights = rights
      this.#mark = mark
      if (isOther) this.missed()
    } catch (error) {
      this.end(error)
    } finally {
      this.#isAsking = false
      this.#bell.resolve()
    }
  }

  async #endWith(error: unknown): Promise<void> {
    this.#leave()
    this.events.send('end', await failureOf(error, this.#rights, this.#resource))
    this.events.end()
  }

  #leave(): void {
    this.#hasEnded = true
    this.#queue = []
    this.#resource.host.streams.remove(this)
    this.#hub.leave(this)
    this.#bell.resolve()
  }
}

function unset(record: string): string {
  return JSON.stringify({ data: { _id: record } })
}

/** A short text for rules; empty for none. */
async function markOf(rules: string): Promise<string> {
  if (rules === '') return ''
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(rules))
  const bytes = [...new Uint8Array(digest).subarray(0, 8)]
  return `.${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

const fail = errorHandler()
const silent = { error() {}, warn() {} }

/** The envelope of a failure, with its status. */
async function failureOf(error: unknown, { request }: Rights, { host }: Resource): Promise<string> {
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
