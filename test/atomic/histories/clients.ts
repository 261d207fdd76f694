/**
 * Clients that do everything at once, at random, and note the beginning, the end and the result of each call.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Part, Seen, Stepped } from './world.ts'

/** A way to an app; undefined if nobody knows what has become of the request. */
export type Send = (
  method: string,
  path: string,
  given?: { readonly json?: unknown; readonly headers?: Record<string, string> },
) => Promise<Answer | undefined>

export interface Answer {
  readonly status: number
  readonly etag: string | null
  readonly body: unknown
}

/** One call, as the judge reads it. */
export interface Call {
  readonly id: string
  readonly kind: string
  readonly start: number
  /** Infinity if nobody knows. */
  readonly end: number
  /** 0 if nobody knows what has become of it. */
  readonly status: number
  /** What it has seen, at one moment unless it is a walk. */
  readonly seen: readonly Seen[]
  /** Whether it has seen all items that there were. */
  readonly isWhole?: boolean
  readonly isWalk?: boolean
  /** How many items it was told that there are in a room. */
  readonly counted?: { readonly room: string; readonly total: number }
  /** The records that it has written, as it was answered. */
  readonly wrote: readonly string[]
  /** How many records it writes, if it does. */
  readonly writes?: number
  /** What its answer says that cannot be. */
  readonly wrong?: readonly string[]
}

type Fields = { readonly [field: string]: unknown; readonly _id: string; readonly by: string }

/** What clients know of the records. */
export interface Known {
  /** Items that stay. */
  readonly lasting: string[]
  /** Items that may go. */
  readonly passing: string[]
  readonly teams: string[]
}

const one = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T
const below = (most: number) => Math.floor(Math.random() * most)
const now = () => Number(process.hrtime.bigint()) / 1e6

let made = 0

/** Makes calls through `send`, one after the other. */
export class Client {
  readonly calls: Call[] = []
  readonly #send: Send
  readonly #known: Known

  constructor(send: Send, known: Known) {
    this.#send = send
    this.#known = known
  }

  /** Calls at random until `isOver`. */
  async work(isOver: () => boolean): Promise<readonly Call[]> {
    const kinds = [
      ...[this.read, this.list, this.list, this.walk, this.count, this.patch, this.state],
      ...[this.ifMatch, this.ifMatch, this.judged, this.judged, this.move, this.move, this.move],
      ...[this.create, this.create, this.remove, this.removeSeen, this.team, this.removeTeam],
      ...[this.batch, this.batch, this.step, this.step, this.step],
    ]
    while (!isOver()) {
      await one(kinds).call(this)
      // A process that is gone is not asked all the time.
      if (this.calls.at(-1)?.status === 0) await delay(100)
    }
    return this.calls
  }

  /** Makes a lasting team and its items. */
  async begin(): Promise<void> {
    const { lasting, passing, teams } = this.#known
    while (teams.length === 0) await this.team()
    const team = String(teams.shift())
    for (let at = 0; passing.length < 4; at += 1) {
      const own = { name: `lasting ${at}`, room: `own ${at}` }
      await this.#write('create', 'POST', '/items', { ...this.#item(team), ...own })
    }
    lasting.push(...passing.splice(0))
    while (teams.length < 4) await this.team()
  }

  async read(): Promise<void> {
    const id = this.#id()
    await this.#call('read', (told) => this.#seen(told, 'GET', `/items/${id}`, id))
  }

  async list(): Promise<void> {
    await this.#call('list', async (told) => {
      const answer = await this.#send('GET', '/items')
      told(answer, { isWhole: true, seen: seenIn(answer), wrong: clashesIn(recordsOf(answer)) })
    })
  }

  /** Everything, in pages. */
  async walk(): Promise<void> {
    await this.#call('walk', async (told) => {
      const seen: Seen[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const answer = await this.#send('GET', `/walk?pageSize=3&cursor=${cursor}`)
        if (answer?.status !== 200) return told(answer)
        seen.push(...seenIn(answer))
        cursor = (answer.body as { pagination: { nextCursor: string | null } }).pagination
          .nextCursor
        if (seen.length > 10_000) return told(answer, { wrong: ['a walk that does not end'] })
      }
      told({ status: 200, etag: null, body: null }, { isWalk: true, seen })
    })
  }

  async count(): Promise<void> {
    const room = `room ${below(3)}`
    await this.#call('count', async (told) => {
      const answer = await this.#send('GET', `/items?room=${room}&page=1&pageSize=1`)
      const { totalRecords: total } = Object(Object(answer?.body).pagination)
      told(answer, answer?.status === 200 ? { counted: { room, total } } : {})
    })
  }

  /** Without a condition. */
  async patch(): Promise<void> {
    await this.#write('patch', 'PATCH', `/items/${this.#id()}`, {})
  }

  /** By a hook that adds a line to what it has judged. */
  async judged(): Promise<void> {
    await this.#write('judged', 'PATCH', `/judged/${this.#lasting()}`, {})
  }

  /** What other records, or the rest of the record, have a say in. */
  async move(): Promise<void> {
    const id = one(this.#known.passing)
    const { name, from, to, team } = this.#item(this.#team())
    const changes = one([{ name }, { from }, { to }, { team }, { name, from, to, team }])
    if (id !== undefined) await this.#write('move', 'PATCH', `/items/${id}`, changes)
  }

  async state(): Promise<void> {
    const state = one(['new', 'open', 'done'])
    await this.#write('state', 'PATCH', `/items/${this.#id()}`, { state })
  }

  /** What was read, and a line more, unless another call was faster. */
  async ifMatch(): Promise<void> {
    const id = this.#id()
    const found = await this.#call('read', (told) => this.#seen(told, 'GET', `/items/${id}`, id))
    if (found?.status !== 200) return
    const [record] = recordsOf(found)
    const seen: Seen[] = [[id, String(record?.by)]]
    await this.#write('if-match', 'PATCH', `/items/${id}`, { log: record?.log }, { seen, ...found })
  }

  async create(): Promise<void> {
    await this.#write('create', 'POST', '/items', this.#item(this.#team()))
  }

  /** What was read, unless another call was faster. */
  async removeSeen(): Promise<void> {
    const id = one(this.#known.passing)
    if (id === undefined) return
    const found = await this.#call('read', (told) => this.#seen(told, 'GET', `/items/${id}`, id))
    if (found?.status !== 200) return
    const seen: Seen[] = [[id, String(recordsOf(found)[0]?.by)]]
    await this.#write('remove seen', 'DELETE', `/items/${id}`, undefined, { seen, ...found })
  }

  async remove(): Promise<void> {
    const id = one(this.#known.passing)
    if (id !== undefined) await this.#write('remove', 'DELETE', `/items/${id}`)
  }

  async team(): Promise<void> {
    await this.#write('team', 'POST', '/teams', {})
  }

  async removeTeam(): Promise<void> {
    const { teams } = this.#known
    if (teams.length > 3) await this.#write('remove team', 'DELETE', `/teams/${teams.shift()}`)
  }

  /** Several writes of which all are stored or none. */
  async batch(): Promise<void> {
    const by = newId()
    const ids = [...new Set([...this.#some(), ...(below(3) ? [] : [this.#id()])])]
    const isNew = below(3) === 0
    const operations = [
      ...ids.map((id) => ({ method: 'PATCH', path: `/items/${id}`, body: { by } })),
      ...(isNew
        ? [{ method: 'POST', path: '/items', body: { ...this.#item(this.#team()), by } }]
        : []),
    ]
    await this.#call(
      'batch',
      async (told) => {
        const headers = { 'x-call': by }
        const answer = await this.#send('POST', '/batch', { json: { operations }, headers })
        const { data } = Object(answer?.body) as { data?: { body: { data: Fields } }[] }
        const written = (data ?? []).map(({ body }) => body.data)
        this.#knowing(written)
        told(answer, { wrote: written.map(({ _id }) => _id), wrong: notBy(by, written) })
      },
      { id: by, writes: operations.length },
    )
  }

  /** An atomic step of the app's own code. */
  async step(): Promise<void> {
    const by = newId()
    const parts = Array.from({ length: 2 + below(4) }, () => this.#part())
    const throws = below(8) === 0
    const changed = parts.flatMap((part) => {
      if ('append' in part) return [part.append]
      return 'sweep' in part ? part.sweep : []
    })
    const inserted = parts.filter((part) => 'insert' in part)
    await this.#call(
      throws ? 'thrown step' : 'step',
      async (told) => {
        const given = { json: { parts, throws }, headers: { 'x-call': by } }
        const answer = await this.#send('POST', '/step', given)
        const data = (Object(answer?.body) as { data?: Stepped }).data
        if (answer?.status !== 200 || !data) return told(answer)
        const wrong = data.blind.map((id) => `does not see its own write of ${id}`)
        told(answer, { seen: data.seen, wrote: data.wrote, wrong })
      },
      { id: by, writes: throws ? 0 : new Set(changed).size + inserted.length },
    )
  }

  #part(): Part {
    const read = () => ({ read: below(4) ? this.#lasting() : this.#id(), way: below(3) })
    const all = () => ({ all: [this.#id(), ...this.#some()] })
    const append = () => ({ append: this.#lasting() })
    const others = [
      () => ({ named: nameOf() }),
      () => ({ sweep: this.#some() }),
      () => ({ insert: this.#item(this.#team()) }),
    ]
    return one<() => Part>([read, read, read, all, append, append, append, ...others])()
  }

  async #write(
    kind: string,
    method: string,
    path: string,
    json?: Record<string, unknown>,
    { etag, seen = [] }: Partial<Answer> & { readonly seen?: readonly Seen[] } = {},
  ): Promise<void> {
    const by = newId()
    const headers = { 'x-call': by, ...(etag && { 'if-match': etag }) }
    const given = { headers, ...(json && { json: withLine({ ...json, by }, etag) }) }
    const [, , id = ''] = path.split('/')
    const write = async (told: Tell) => {
      const answer = await this.#send(method, path, given)
      if (!(answer && answer.status < 300)) return told(answer, goneIn(answer, path))
      const written = recordsOf(answer)
      if (method === 'POST') this.#knowing(written, kind)
      const wrote = written.length > 0 ? written.map(({ _id }) => _id) : [id]
      told(answer, { seen, wrote, wrong: json ? notBy(by, written) : [] })
    }
    await this.#call(kind, write, { id: by, ...(kind !== 'remove team' && { writes: 1 }) })
  }

  async #seen(told: Tell, method: string, path: string, id: string): Promise<Answer | undefined> {
    const answer = await this.#send(method, path)
    const [record] = recordsOf(answer)
    const isTold = answer?.status === 200 || answer?.status === 404
    told(answer, { seen: isTold ? [[id, record?.by ?? null]] : [] })
    return answer
  }

  async #call<T>(
    kind: string,
    ask: (told: Tell) => Promise<T>,
    about: Partial<Call> = {},
  ): Promise<T> {
    const start = now()
    const known = { id: newId(), kind, seen: [], wrote: [], ...about, start }
    return ask((answer, more) => {
      const isTold = answer !== undefined && answer.status < 500
      const end = { end: isTold ? now() : Number.POSITIVE_INFINITY, status: answer?.status ?? 0 }
      this.calls.push({ ...known, ...(isTold && more), ...end })
    })
  }

  #knowing(written: readonly Fields[], kind = ''): void {
    const { lasting, passing, teams } = this.#known
    for (const { _id } of written) {
      if (kind === 'team') teams.push(_id)
      else if (!lasting.includes(_id) && !passing.includes(_id)) passing.push(_id)
    }
    // What is known to be old is not asked for any more.
    passing.splice(0, passing.length - 12)
  }

  #item(team: string): Record<string, unknown> {
    const from = below(20)
    const when = { room: `room ${below(3)}`, from, to: from + 1 + below(3) }
    return { name: nameOf(), log: [], state: 'new', ...when, team }
  }

  #some = (): string[] => [...new Set([this.#lasting(), this.#lasting()])]
  #lasting = (): string => one(this.#known.lasting)
  #team = (): string => one(this.#known.teams) ?? ''
  #id = (): string =>
    below(2) === 0 ? this.#lasting() : (one(this.#known.passing) ?? this.#lasting())
}

type Tell = (answer: Answer | undefined, more?: Partial<Call>) => void

/** What a refusal says of the item at `path`: a 404, that it is not there. */
function goneIn(answer: Answer | undefined, path: string): Partial<Call> {
  const [, collection, id = ''] = path.split('/')
  return answer?.status === 404 && collection === 'items' ? { seen: [[id, null]] } : {}
}

/** What a call under a condition sends: the lines that it has read, and its own. */
function withLine(json: Record<string, unknown>, etag: Answer['etag'] | undefined): object {
  return etag ? { ...json, log: [...(json.log as string[]), json.by] } : json
}

/** Of few: two calls often want the same. */
function nameOf(): string {
  return `name ${below(8)}`
}

function newId(): string {
  made += 1
  return `${process.pid}-${made}`
}

function recordsOf(answer: Answer | undefined): Fields[] {
  const { data = [] } = Object(answer?.body) as { data?: Fields | Fields[] }
  return [data].flat().filter((each) => each && typeof each === 'object' && '_id' in each)
}

function seenIn(answer: Answer | undefined): Seen[] {
  return recordsOf(answer).map(({ _id, by }) => [_id, by])
}

function notBy(id: string, written: readonly Fields[]): string[] {
  const others = written.filter(({ by }) => by !== id)
  return others.map(({ _id, by }) => `was answered with ${_id} as ${by} has written it`)
}

/** Items of one moment of which the model lets only one be there. */
export function clashesIn(records: readonly Fields[]): string[] {
  return records.flatMap((a, at) =>
    records.slice(at + 1).flatMap((b) => {
      const overlap =
        a.room === b.room && Number(a.from) < Number(b.to) && Number(b.from) < Number(a.to)
      if (a.name !== b.name && !overlap) return []
      return [`${a._id} and ${b._id} are there at once: ${a.name === b.name ? a.name : a.room}`]
    }),
  )
}
