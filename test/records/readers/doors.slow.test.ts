/** Rights and records change at random: at each moment each door shows each reader what the rules say, and no more. */

import { expect, it } from 'vitest'
import { Random } from '../../../extras/contract/store/random.ts'
import { isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import { hostOf } from '../../../src/records/engine/host.ts'
import { seeds } from '../../runs.ts'
import type { Answer } from '../service.ts'
import {
  type Account,
  type Ask,
  type Doors,
  doors,
  READING,
  type Reader,
  type ReadingDoor,
  Stream,
  WRITING,
  type WritingDoor,
} from './doors.ts'
import { flat, marksIn, Rules, type State } from './rules.ts'

const ACTIONS = ['list', 'read', 'update', 'history', 'restore'] as const
const TEAMS = ['a', 'b', 'c'] as const

class Trial extends Rules {
  readonly random: Random
  readonly world: Doors
  readers: Reader[] = []
  readonly streams = new Map<Reader, Stream>()
  /** What was given to readers, which others may try. */
  readonly given: string[] = []
  /** Lists by their entity tags. */
  readonly tags = new Map<string, string>()
  /** What was written since webhooks were last sent. */
  readonly untold: LoggedChange[] = []
  #position: string | undefined
  #marks = 0

  constructor(random: Random, world: Doors) {
    super()
    this.random = random
    this.world = world
  }

  mark(): string {
    this.#marks += 1
    return `~${this.#marks}~`
  }

  /** Notes what was written. */
  async look(): Promise<readonly LoggedChange[]> {
    const { changes } = hostOf(this.world.app.store)
    const read = await changes?.read(this.#position, { limit: 1000, models: ['DoorNote'] })
    if (!read || 'gone' in read) throw new Error('no log')
    this.#position = read.position
    this.took(read.changes)
    this.untold.push(...read.changes)
    return read.changes
  }

  ask({ token }: Reader): Ask {
    return (...request) => this.world.ask(token, ...request)
  }

  anId(): string {
    const all = [...new Set(this.log.map(({ before, after }) => String((after ?? before)?._id)))]
    return this.random.of(all as [string])
  }

  reader(): Reader {
    return this.random.of(this.readers as [Reader])
  }

  async checkRead(): Promise<void> {
    const [name, door] = this.random.of(Object.entries(READING) as [[string, ReadingDoor]])
    const [reader, id] = [this.reader(), this.anId()]
    const { title, salary } = this.notes.get(this.anId()) ?? {}
    const text = String(this.random.chance(50) ? title : salary)
    const answer = await door.ask(this.ask(reader), id, text)
    const about = JSON.stringify([name, id, text, reader, answer.status, answer.text.slice(0, 300)])
    const may = this.may(reader, door.action)
    expect(marksIn(answer.text), about).toEqual(may ? this.expected(reader, door, id, text) : [])
    if (!may && !name.startsWith('tool')) expect([401, 403], about).toContain(answer.status)
  }

  /** A write by a reader is done if the reader may, and else nothing is written. */
  async checkWrite(): Promise<void> {
    const [name, write] = this.random.of(Object.entries(WRITING) as [[string, WritingDoor]])
    const [reader, id] = [this.reader(), this.anId()]
    const values = { [this.random.of(['title', 'salary'])]: this.mark() }
    const current = this.notes.get(id)
    const isDone = this.may(reader, 'update') && this.sees(reader.account, current)
    await this.#written(name, reader, isDone ? { ...current, ...values } : undefined, (ask) =>
      write(ask, id, values),
    )
  }

  /** What it was after some change of any record. */
  async checkRestore(): Promise<void> {
    const reader = this.reader()
    const { id: changeId, before, after } = this.random.of(this.log as [LoggedChange])
    const state = after ?? before ?? {}
    const id = this.random.chance(70) ? String(state._id) : this.anId()
    const current = this.notes.get(id)
    const last = current ?? this.changesOf(id).at(-1)?.before
    const { account } = reader
    const isDone =
      this.may(reader, 'restore') &&
      state._id === id &&
      this.sees(account, last) &&
      this.sees(account, state)
    const { title, salary } = state
    const { team } = account.rights
    const own = team ? { team } : { owner: account.id }
    const made = isDone ? { ...(current ?? { _id: id, ...own }), title, salary } : undefined
    await this.#written('restore', reader, made, (ask) =>
      ask('POST', `/notes/${id}/restore`, { json: { changeId } }),
    )
  }

  async #written(
    name: string,
    reader: Reader,
    made: State,
    write: (ask: Ask) => Promise<Answer>,
  ): Promise<void> {
    const was = this.notes.get(String(made?._id))
    const { status, text } = await write(this.ask(reader))
    const changes = await this.look()
    const about = JSON.stringify([name, reader, made, status, text])
    const isNew = made && !(was && isSameContent(was, made))
    expect(
      changes.map(({ after }) => after),
      about,
    ).toEqual(isNew ? [made] : [])
    expect(marksIn(text), about).toEqual(made ? this.marks(reader.account, [made]) : [])
  }

  /** What was given to one reader shows another one nothing but what is theirs. */
  async checkBorrowed(): Promise<void> {
    const reader = this.reader()
    const from =
      this.given.length > 0 && this.random.chance(60)
        ? this.random.of(this.given as [string])
        : undefined
    const path = `/pages?pageSize=2${from ? `&cursor=${from}` : ''}`
    const { text, body } = await this.ask(reader)('GET', path)
    const all = this.marks(reader.account, [...this.notes.values()])
    const may = this.may(reader, 'list') ? all : []
    expect(may, JSON.stringify([reader, path, text])).toEqual(expect.arrayContaining(marksIn(text)))
    const { nextCursor } = (body.pagination ?? {}) as { nextCursor?: string }
    if (nextCursor) this.given.push(nextCursor)
    const tag = `${this.tags.size > 0 && this.random.of([...this.tags.keys()] as [string])}`
    const one = await this.ask(reader)('GET', '/kept', { headers: { 'if-none-match': tag } })
    const now = await this.ask(reader)('GET', '/kept')
    if (one.status === 304) expect(this.tags.get(tag)).toBe(now.text)
    if (now.status === 200) this.tags.set(String(now.headers.get('etag')), now.text)
  }

  /** A stream that begins after an event of any other. */
  async checkResumed(): Promise<void> {
    const ids = [...this.streams.values()].flatMap(({ events }) =>
      events.flatMap(({ id }) => id ?? []),
    )
    const reader = this.reader()
    const stream = await this.open(reader, this.random.of(ids as [string]))
    if (!stream) return
    // What it has missed comes at once, if there is any.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await stream.reading.cancel()
    const ever = this.log.flatMap(({ before, after }) => [before, after])
    const may = this.marks(reader.account, ever)
    expect(may, JSON.stringify([reader, stream.events])).toEqual(
      expect.arrayContaining(marksIn(JSON.stringify(stream.events))),
    )
  }

  async open(reader: Reader, last?: string): Promise<Stream | undefined> {
    const authorization = `Bearer ${reader.token}`
    const headers = {
      authorization,
      accept: 'text/event-stream',
      ...(last && { 'last-event-id': last }),
    }
    const response = await this.world.app.handle(new Request('http://localhost/notes', { headers }))
    expect(response.status === 200, JSON.stringify(reader)).toBe(this.may(reader, 'list'))
    return response.status === 200 ? new Stream(response) : undefined
  }

  /** Whether a stream shows what its reader may see now, or has ended because that is nothing. */
  isShown(reader: Reader, { list, hasEnded }: Stream): boolean {
    if (hasEnded || !this.may(reader, 'list')) return hasEnded && !this.may(reader, 'list')
    const all = [...this.notes.values()].filter((one) => this.sees(reader.account, one))
    return (
      list.size === all.length &&
      all.every((one) =>
        isSameContent(list.get(String(one._id)) ?? null, this.shown(reader.account, one)),
      )
    )
  }

  /** All that follows from what was written: webhooks of each account, and streams. */
  async checkTold(): Promise<void> {
    const changes = this.untold.splice(0)
    await this.world.sendWebhooks()
    for (const account of this.world.accounts) {
      const { received } = account.hooks
      const told = received.splice(0).map(({ body }) => body.data)
      const must = account.rights.banned
        ? []
        : changes.flatMap(({ before, after, kind }) => {
            const shown = this.shown(account, after ?? before)
            const isSame = kind === 'updated' && isSameContent(shown, this.shown(account, before))
            return isSame || shown._id === undefined ? [] : [shown]
          })
      expect(told.map(flat).sort(), account.name).toEqual(must.map(flat).sort())
    }
    for (const [reader, stream] of this.streams) {
      const about = () =>
        JSON.stringify([reader, [...stream.list.values()], [...this.notes.values()]])
      await expect
        .poll(() => this.isShown(reader, stream) || about(), { timeout: 6000, interval: 5 })
        .toBe(true)
    }
  }

  /** A session and a key for each account that has none, and their streams. */
  async signIn(): Promise<void> {
    for (const account of this.world.accounts) {
      if (account.rights.banned || this.readers.some((one) => one.account === account)) continue
      const actions = ACTIONS.filter(() => this.random.chance(60))
      const readers = await this.world.readersOf(account, actions.length > 0 ? actions : ['list'])
      this.readers.push(...readers)
      for (const reader of readers) {
        const stream = await this.open(reader)
        if (stream) this.streams.set(reader, stream)
      }
    }
  }

  /** Its sessions and keys have ended. */
  forget(account: Account): void {
    this.readers = this.readers.filter((one) => one.account !== account)
    for (const reader of this.streams.keys())
      if (reader.account === account) this.streams.delete(reader)
  }

  values() {
    const { random, world } = this
    return {
      ...{ title: this.mark(), salary: this.mark(), pin: this.mark() },
      ...{ team: random.of(TEAMS), owner: random.of(world.accounts as [Account]).id },
    }
  }

  /** A new note, and what refers to it. */
  async insert(): Promise<void> {
    const { _id } = await this.world.notes.insert(this.values())
    await this.world.tasks.insert({ note: _id })
  }

  /** Somebody writes, or an account gets other rights. */
  async step(): Promise<void> {
    const { random, world } = this
    const account = random.of(world.accounts as [Account])
    const what = random.below(10)
    const id = random.of([...this.notes.keys()] as [string])
    if (what === 0) await world.allow(account, { isWhole: !account.rights.isWhole })
    else if (what === 1) await world.allow(account, { team: random.of(['', ...TEAMS]) })
    else if (what === 2) await world.allow(account, { banned: !account.rights.banned })
    else if (what < 5 || this.notes.size < 5) await this.insert()
    else if (what === 5 && this.notes.size > 8) await world.notes.delete(id)
    else
      await world.notes.update(
        id,
        Object.fromEntries(Object.entries(this.values()).filter(() => random.chance(40))),
      )
    if (what === 2 && !account.rights.banned) this.forget(account)
    await this.look()
    await this.checkTold()
  }
}

it.each(seeds(3))('each door shows each reader what the rules say, seed %i', async (seed) => {
  const random = new Random(seed)
  const trial = new Trial(random, await doors(['ann', 'bob', 'eve']))
  for (let count = 0; count < 5; count += 1) await trial.insert()
  await trial.look()
  await trial.checkTold()
  for (let count = 0; count < 60; count += 1) {
    await trial.signIn()
    await trial.step()
    for (let checks = 0; checks < 10; checks += 1) await trial.checkRead()
    await trial.checkWrite()
    await trial.checkRestore()
    await trial.checkBorrowed()
    if (random.chance(30)) await trial.checkResumed()
    await trial.checkTold()
  }
})
