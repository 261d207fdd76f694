/**
 * Writers of every kind, and readers that follow the log of what they do: nothing may be missing, twice or out of order.
 *
 * @module
 */

import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { batch } from '../../../src/batch/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  ref,
  type Store,
  userFields,
} from '../../../src/index.ts'
import { isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { hostOf } from '../../../src/records/engine/host.ts'

const Board = defineModel('ProofBoard', {
  fields: { name: z.string(), count: z.number().default(0) },
  changes: { keep: 'forever' },
})
const Card = defineModel('ProofCard', {
  fields: {
    text: z.string(),
    moves: z.number().default(0),
    board: ref('ProofBoard', { onDelete: 'cascade' }),
  },
  timestamps: true,
  changes: { keep: 'forever' },
})
const Person = defineModel('ProofPerson', {
  fields: { ...userFields(), name: z.string().optional() },
  unique: ['email'],
  changes: { keep: 'forever' },
})

/** The paths of the lists, of which each is live. */
export const LISTS = ['/boards', '/cards', '/people'] as const
/** A password is as quick as the other writes. */
const hasher = {
  hash: async (plain: string) => `plain ${plain}`,
  verify: async (plain: string, stored: string) => stored === `plain ${plain}`,
  needsRehash: () => false,
}

/** Where the database is. */
export type Place =
  | { readonly sqlite: string }
  | { readonly postgres: string; readonly schema: string }
  | { readonly mongodb: string; readonly database: string }

function storeAt(place: Place): Store {
  if ('sqlite' in place) return sqliteStore({ path: place.sqlite })
  if ('postgres' in place)
    return postgresStore({ url: place.postgres, schema: place.schema, max: 12 })
  return mongoStore({ url: place.mongodb, database: place.database })
}

/** An app at a place. */
export async function appAt(place: Place): Promise<App> {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store: storeAt(place), logger, hasher, env: {} })
  const auth = createAuthRouter({
    model: Person,
    token: { secret: 'a secret of at least 32 characters, for tests' },
    updateFields: ['name'],
    routes: { deleteUser: '/users/:id' },
  })
  app.mount('/auth', auth.router)
  const served = { middlewares: [], live: true, maxLimit: 100_000 } as const
  app.mount('/boards', createRouter({ ...served, model: Board, sortableFields: ['count'] }))
  app.mount('/cards', createRouter({ ...served, model: Card, sortableFields: ['text'] }))
  const access = { create: false, update: false, remove: false } as const
  app.mount('/people', createRouter({ ...served, model: Person, access, allowedFields: ['name'] }))
  app.mount('/batch', batch())
  await app.ready()
  return app
}

/** As many boards as there are, or a few more. */
const MOST_BOARDS = 40

/** Writes so often, each time something else, until all is done, `isOver` or the process is killed. */
export async function write(
  app: App,
  seed: number,
  rounds: number,
  isOver: () => boolean = () => false,
): Promise<void> {
  let number = seed * 7919
  const below = (most: number) => {
    number = (Math.imul(number, 1_103_515_245) + 12_345) & 0x7fffffff
    return (number >> 8) % most
  }
  const any = (found: readonly { readonly _id: string }[]) =>
    found[below(Math.max(1, found.length))]?._id ?? '0'.repeat(24)
  for (let round = 0; round < rounds && !isOver(); round += 1) {
    const boards = await app.store.collection(Board).find({}, { limit: MOST_BOARDS })
    const cards = await app.store.collection(Card).find({}, { limit: 10, sort: '-_id' })
    const chosen = KINDS[below(KINDS.length)] ?? 'board'
    const isFull = boards.length === MOST_BOARDS && chosen === 'board'
    const kind = boards.length < 3 ? 'board' : isFull ? 'remove' : chosen
    await WRITES[kind](app, { board: any(boards), card: any(cards), round, seed })
  }
}

interface Target {
  readonly board: string
  readonly card: string
  readonly round: number
  readonly seed: number
}

const WRITES = {
  board: (app, { round, seed }) => send(app, 'POST', '/boards', { name: `${seed} ${round}` }),
  card: (app, { board }) => send(app, 'POST', '/cards', { text: 'a', board }),
  text: (app, { card, seed, round }) =>
    send(app, 'PATCH', `/cards/${card}`, { text: `${seed} ${round}` }),
  count: (app, { board, round }) => send(app, 'PATCH', `/boards/${board}`, { count: round }),
  batch: (app, { board, round, seed }) =>
    send(app, 'POST', '/batch', {
      operations: [
        { method: 'PATCH', path: `/boards/${board}`, body: { count: round + seed } },
        { method: 'POST', path: '/cards', body: { text: 'batch', board } },
      ],
    }),
  all: (app, { board, round }) =>
    app.store
      .collection(Card)
      .updateWhere({ board }, { moves: round })
      .catch(() => {}),
  // With the cards of the board.
  remove: (app, { board, round }) =>
    round % 4 === 0 ? send(app, 'DELETE', `/boards/${board}`).then(() => {}) : Promise.resolve(),
  account: async (app, { seed, round }) => {
    const body = { email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery' }
    const { data } = (await send(app, 'POST', '/auth/register', body)) as Registered
    if (!data) return
    const own = `/auth/users/${data.user._id}`
    if (round % 2 === 0) await send(app, 'PATCH', own, { name: `${seed} ${round}` }, data.token)
    else await send(app, 'POST', '/auth/login', body)
    if (round % 8 !== 0)
      await send(app, 'DELETE', own, { currentPassword: body.password }, data.token)
  },
  atomic: (app, { board }) =>
    app.store
      .atomic(async (tx) => {
        const found = await tx.collection(Board).findById(board)
        if (found) await tx.collection(Board).update(board, { count: found.count + 1 })
        await tx.collection(Card).insert({ text: 'atomic', board })
      })
      .catch(() => {}),
} satisfies Record<string, (app: App, target: Target) => Promise<unknown>>
const KINDS = Object.keys(WRITES) as (keyof typeof WRITES)[]

interface Registered {
  readonly data?: { readonly token: string; readonly user: { readonly _id: string } }
}

async function send(
  app: App,
  method: string,
  path: string,
  body?: object,
  token?: string,
): Promise<unknown> {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const response = await app.handle(new Request(`http://x${path}`, init))
  const { status } = response
  // MongoDB keeps the locks of a killed process for a minute.
  if (![200, 201, 400, 404, 409, 503].includes(status))
    throw new Error(`${method} ${path}: ${status} ${await response.text()}`)
  return response.json()
}

/** What is read while a database that has too much to do does not answer; anything else is a fault. */
function nothingYet(
  position: string,
): (error: unknown) => { changes: LoggedChange[]; position: string } {
  return (error) => {
    if (!(error instanceof StoreUnavailable)) throw error
    return { changes: [], position }
  }
}

/** Writes what comes after all the rest; resolves to its id. */
export async function writeLast(app: App): Promise<string> {
  return (await app.store.collection(Board).insert({ name: 'last', count: 0 }))._id
}

/** How long a reader, or a client, has to come to the end when nothing is written any more. */
export const PATIENCE_MS = 120_000

/** Follows the log from a position, `limit` changes at a time, up to what made the record whose id `last` resolves to. */
export async function follow(
  app: App,
  start: string,
  last: Promise<string>,
  limit: number,
  found: LoggedChange[] = [],
): Promise<LoggedChange[]> {
  const log = hostOf(app.store).changes
  if (!log) throw new Error('no log')
  let wakeUp = () => {}
  const end = log.wake(() => wakeUp())
  let [lastId, until] = ['', Number.POSITIVE_INFINITY]
  last.then(
    (id) => {
      lastId = id
      until = performance.now() + PATIENCE_MS
    },
    () => {},
  )
  for (let after = start; performance.now() < until; ) {
    const read = await log.read(after, { limit }).catch(nothingYet(after))
    if ('gone' in read) throw new Error(`${after} is gone`)
    found.push(...read.changes)
    after = read.position
    if (lastId !== '' && found.at(-1)?.after?._id === lastId) break
    if (read.changes.length > 0) continue
    await new Promise<void>((resolve) => {
      wakeUp = resolve
      setTimeout(resolve, 20)
    })
  }
  end()
  return found
}

/** What is wrong with what a reader has got, compared with the records that are there. */
export async function faultsOf(app: App, found: readonly LoggedChange[]): Promise<string[]> {
  const twice = found.length - new Set(found.map(({ id }) => id)).size
  const stored = new Map<string, unknown>()
  for (const model of [Board, Card, Person] as const) {
    const all = await app.store.collection(model as typeof Board).find({}, { limit: 1e6 })
    for (const record of all) stored.set(`${model.name} ${record._id}`, record)
  }
  const told = Map.groupBy(
    found,
    ({ model, before, after }) => `${model} ${(after ?? before)?._id}`,
  )
  const missing = [...stored.keys()].filter((name) => !told.has(name))
  const wrong = [...told].flatMap(([name, changes]) => {
    const states = [null, ...changes.map(({ after }) => after)]
    const torn = changes.filter(({ before }, at) => !isSameContent(before, states[at]))
    const isLast = isSameContent(states.at(-1), stored.get(name) ?? null)
    return [
      ...torn.map(({ id }) => `${name}: ${id} does not follow`),
      ...(isLast ? [] : [`${name} ended as something else`]),
    ]
  })
  return [
    ...(twice > 0 ? [`${twice} twice`] : []),
    ...missing.map((name) => `${name} is missing`),
    ...wrong,
  ]
}

/** The position of a log's beginning. */
export async function startOf(app: App): Promise<string> {
  return (await hostOf(app.store).changes?.position()) ?? ''
}
