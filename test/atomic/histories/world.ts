/**
 * What the histories are about: items, some of which stay and some of which come and go, and the teams that they belong to. Each
 * write says in `by` which call it is of, and the log of changes says so of removals.
 *
 * @module
 */

import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import {
  type App,
  type BeforeUpdate,
  type CacheStore,
  createApp,
  createRouter,
  defineModel,
  HttpError,
  type RecordCollection,
  type RecordOf,
  ref,
  type Store,
} from '../../../src/index.ts'
import { hostOf } from '../../../src/records/engine/host.ts'

const changes = { keep: 'forever' } as const

const Team = defineModel('HistoryTeam', { fields: { by: z.string() }, changes })

export const Item = defineModel('HistoryItem', {
  fields: z
    .object({
      by: z.string(),
      name: z.string().max(40),
      log: z.array(z.string()),
      state: z.enum(['new', 'open', 'done']),
      room: z.string().max(40),
      from: z.number(),
      to: z.number(),
      team: ref('HistoryTeam', { onDelete: 'cascade' }),
    })
    .refine(({ from, to }) => from < to, { path: ['to'], error: 'Must be after from.' }),
  unique: ['name'],
  exclude: [{ equal: ['room'], range: ['from', 'to'] }],
  transitions: { state: { new: ['open'], open: ['done'], done: ['new'] } },
  changes,
})

/** A part of an atomic step. */
export type Part =
  | { readonly read: string; readonly way: number }
  | { readonly all: readonly string[] }
  | { readonly named: string }
  | { readonly append: string }
  | { readonly sweep: readonly string[] }
  | { readonly insert: object }

/** What a call has seen of an item: who has written it, null if it was not there. */
export type Seen = readonly [item: string, by: string | null]

/** What an atomic step has come to. */
export interface Stepped {
  readonly seen: readonly Seen[]
  /** What the step has written. */
  readonly wrote: readonly string[]
  /** What it did not see of its own writes. */
  readonly blind: readonly string[]
}

const quiet = () => {}
/** What was cut off is a 503. */
const error = (message: string, about: { readonly status?: number } = {}) => {
  if (about.status !== 503) console.error(message, about)
}

/** An app over `store`, whose lists are kept in `cache` if there is one. */
export function worldOn(store: Store, cache?: CacheStore): App {
  const logger = { debug: quiet, info: quiet, warn: quiet, error }
  const limits = { maxInFlight: 5000, requestTimeoutMs: 0, maxBodyValues: 100_000 }
  const app = createApp({ store, logger, env: {}, ...limits, ...(cache && { cache }) })
  app.use((request) => {
    const by = request.headers.get('x-call')
    if (by) request.auth = { userId: by, role: 'caller' }
  })
  const served = { middlewares: [], maxLimit: 1000, defaultPageSize: 1000 } as const
  const allowedFields = ['by', 'name', 'log', 'state', 'room', 'from', 'to', 'team'] as const
  const items = { ...served, model: Item, allowedFields, query: ['room'] } as const
  app.mount('/teams', createRouter({ ...served, model: Team, allowedFields: ['by'] }))
  app.mount('/items', createRouter({ ...items, ...(cache && { cache: { ttl: 60 } }) }))
  // Adds a line to what it judges.
  const beforeUpdate: BeforeUpdate<RecordOf<typeof Item>> = ({ record, changes, request }) => {
    return { ...changes, log: [...record.log, request.auth?.userId ?? ''] }
  }
  app.mount('/judged', createRouter({ ...items, beforeUpdate }))
  app.mount('/walk', createRouter({ ...items, pagination: 'cursor' }))
  app.mount('/batch', batch({ max: 100 }))
  app.get('/log', async () => {
    const log = hostOf(app.store).changes
    const found = []
    for (let after: string | undefined; ; ) {
      const read = await log?.read(after, { limit: 500 })
      if (!read || 'gone' in read) throw new Error('the log is gone')
      found.push(...read.changes)
      if (after === read.position) return found
      after = read.position
    }
  })
  app.post('/step', ({ body, auth }, { store }) => stepped(store, body, auth?.userId ?? ''), {
    body: z.object({ parts: z.array(z.any()), throws: z.boolean() }),
  })
  return app
}

async function stepped(
  store: App['store'],
  { parts, throws }: { readonly parts: readonly Part[]; readonly throws: boolean },
  by: string,
): Promise<Stepped> {
  let run = new Run(by)
  try {
    await store.atomic(async (tx) => {
      run = new Run(by)
      for (const part of parts) {
        await run.does(tx.collection(Item), part)
        // Others get a turn.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
      }
      if (throws) throw new HttpError(418, 'thrown')
    })
  } catch (error) {
    if (!(error instanceof HttpError && error.status === 418)) throw error
  }
  const { seen, wrote, blind } = run
  return { seen, blind, wrote: throws ? [] : [...wrote] }
}

type Items = RecordCollection<RecordOf<typeof Item>>

/** An item, in one of the ways in which a single record is read. */
async function readBy(items: Items, { read, way }: Extract<Part, { read: string }>) {
  if (way === 0) return items.findById(read)
  return way === 1 ? items.findOne({ _id: read }) : (await items.find({ _id: [read] }))[0]
}

/** One run of a step, of which the last one counts. */
class Run {
  readonly seen: Seen[] = []
  readonly wrote = new Set<string>()
  readonly blind: string[] = []
  readonly #by: string

  constructor(by: string) {
    this.#by = by
  }

  async does(items: Items, part: Part): Promise<void> {
    const by = this.#by
    if ('insert' in part) {
      this.wrote.add((await items.insert({ ...part.insert, by } as never))._id)
    } else if ('named' in part) {
      const one = await items.findOne({ name: part.named })
      if (one) this.#saw(one._id, one)
    } else if ('read' in part) {
      this.#saw(part.read, await readBy(items, part))
    } else if ('all' in part) {
      const found = new Map((await items.find({ _id: [...part.all] })).map((one) => [one._id, one]))
      for (const id of part.all) this.#saw(id, found.get(id))
    } else if ('sweep' in part) {
      await items.updateWhere({ _id: [...part.sweep] }, { by })
      for (const id of part.sweep) this.wrote.add(id)
    } else await this.#append(items, part.append)
  }

  async #append(items: Items, id: string): Promise<void> {
    const by = this.#by
    const one = await items.findById(id)
    this.#saw(id, one)
    if (!one) return
    const log = one.log.includes(by) ? one.log : [...one.log, by]
    await items.update(one._id, { log, by })
    this.wrote.add(one._id)
  }

  /** Notes what is there of an item, but for what the step has written. */
  #saw(id: string, one: { readonly by: string } | null | undefined): void {
    if (!this.wrote.has(id)) this.seen.push([id, one?.by ?? null])
    else if (one?.by !== this.#by) this.blind.push(id)
  }
}
