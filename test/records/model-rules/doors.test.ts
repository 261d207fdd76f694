/** The same random changes through every way that leads to a record: each takes and refuses the same. */

import { expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { batch } from '../../../src/batch/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  HttpError,
  type Model,
  userFields,
} from '../../../src/index.ts'
import { mcp } from '../../../src/mcp/index.ts'
import { cheap, password, secret } from '../../auth/accounts.ts'
import { seeds } from '../../runs.ts'
import { type Service, service } from '../service.ts'

const STATUSES = ['requested', 'approved', 'lent', 'returned'] as const
const NEXT: Readonly<Record<string, readonly string[]>> = {
  requested: ['approved'],
  approved: ['lent', 'requested'],
  lent: ['returned'],
}
const COUNTS: readonly unknown[] = ['approved', 'lent']
const fields = {
  status: z.enum(STATUSES).default('requested'),
  tool: z.enum(['saw', 'axe']),
  from: z.number(),
  to: z.number(),
}
const rules = {
  transitions: {
    status: { requested: ['approved'], approved: ['lent', 'requested'], lent: ['returned'] },
  },
  initial: { status: ['requested', 'approved'] },
  exclude: [{ equal: ['tool'], range: ['from', 'to'], where: { status: ['approved', 'lent'] } }],
} as const

/** What a change came to: the id of the record, or the refusal as a client gets it. */
type Outcome = { readonly id: string } | { readonly refused: unknown }

/** A way to write records. */
interface Door {
  readonly service: Service
  readonly model: Model<never>
  create(values: Fields): Promise<Outcome>
  update(id: string, values: Fields): Promise<Outcome>
}

function bookings() {
  const Booking = defineModel('DoorBooking', { fields, ...rules })
  const made = service({ store: sqliteStore(), secret })
  made.app
    .mount('/bookings', createRouter({ model: Booking, middlewares: [] }))
    .mount('/batch', batch())
    .mount('/mcp', mcp({ write: ['create', 'update'] }))
  const { store } = made.app
  return { service: made, model: Booking as never, store, Booking, own: store.collection(Booking) }
}

interface Envelope {
  readonly data?: unknown
  readonly error?: string
  readonly fields?: unknown
}
const told = ({ data, error, fields: wrong }: Envelope): Outcome =>
  error === undefined
    ? { id: (data as Fields)._id as string }
    : { refused: { error, fields: wrong } }
const thrown = (error: unknown): Outcome => {
  if (!(error instanceof HttpError)) throw error
  return { refused: { error: error.message, fields: error.fields } }
}
const stored = (record: { readonly _id: string } | null): Outcome => ({ id: String(record?._id) })

function routes(): Door {
  const made = bookings()
  const { send } = made.service
  return {
    ...made,
    create: async (json) => told((await send('POST', '/bookings', { json })).body),
    update: async (id, json) => told((await send('PATCH', `/bookings/${id}`, { json })).body),
  }
}

/** A batch of the change and of others that have nothing to do with it: if it is refused, so are they. */
function batches(): Door {
  const made = bookings()
  const run = async (operation: object): Promise<Outcome> => {
    const before = await made.own.count()
    const values = { tool: 'saw', from: 1000 + before, to: 1001 + before }
    const others = [
      { method: 'POST', path: '/bookings', body: values },
      { method: 'DELETE', path: '/bookings/$0' },
    ]
    const json = { operations: [...others, operation] }
    const { body } = await made.service.send('POST', '/batch', { json })
    const results = body.data as { body: Envelope }[] | undefined
    return told(results?.at(2)?.body ?? body)
  }
  return {
    ...made,
    create: (body) => run({ method: 'POST', path: '/bookings', body }),
    update: (id, body) => run({ method: 'PATCH', path: `/bookings/${id}`, body }),
  }
}

function ownCode(): Door {
  const made = bookings()
  return {
    ...made,
    create: (values) => made.own.insert(values as never).then(stored, thrown),
    update: (id, values) => made.own.update(id, values).then(stored, thrown),
  }
}

function manyAtOnce(): Door {
  const made = bookings()
  return {
    ...made,
    create: (values) => made.own.insert(values as never).then(stored, thrown),
    update: (id, values) => made.own.updateWhere({ _id: id }, values).then(() => ({ id }), thrown),
  }
}

function atomicSteps(): Door {
  const made = bookings()
  const { store, Booking } = made
  return {
    ...made,
    create: (values) =>
      store.atomic((tx) => tx.collection(Booking).insert(values as never)).then(stored, thrown),
    update: (id, values) =>
      store.atomic((tx) => tx.collection(Booking).update(id, values)).then(stored, thrown),
  }
}

function agents(): Door {
  const made = bookings()
  const write = async (given: object): Promise<Outcome> => {
    const { body } = await made.service.send('POST', '/mcp', {
      json: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'write_record', arguments: { model: '/bookings', ...given } },
      },
      headers: { 'mcp-protocol-version': '2025-11-25' },
    })
    const { content } = (body as unknown as { result: { content: { text: string }[] } }).result
    return told(JSON.parse(content[0]?.text ?? ''))
  }
  return {
    ...made,
    create: (values) => write({ values }),
    update: (id, values) => write({ id, values }),
  }
}

function accounts(): Door {
  const identifiers = ['email'] as const
  const Member = defineModel('DoorMember', {
    fields: { ...userFields({ identifiers }), ...fields },
    unique: ['email'],
    ...rules,
  })
  const made = service({ store: sqliteStore() })
  const names = ['status', 'tool', 'from', 'to'] as const
  const { router } = createAuthRouter({
    ...{ model: Member, identifiers, token: { secret }, password: cheap },
    ...{ registerFields: [...names], updateFields: [...names] },
  })
  made.app.mount('/auth', router)
  const tokens = new Map<string, string>()
  return {
    ...{ service: made, model: Member as never },
    async create(values) {
      const json = { email: `${crypto.randomUUID()}@example.com`, password, ...values }
      const { body } = await made.send('POST', '/auth/register', { json })
      const { token, user } = (body.data ?? {}) as { token: string; user: Fields }
      if (user) tokens.set(String(user._id), token)
      return told({ ...body, data: user })
    },
    async update(id, json) {
      const headers = { authorization: `Bearer ${tokens.get(id)}` }
      return told((await made.send('PATCH', `/auth/users/${id}`, { json, headers })).body)
    },
  }
}

const DOORS = { routes, batches, ownCode, manyAtOnce, atomicSteps, agents, accounts }

const START = {
  error: 'Check the submitted values.',
  fields: { status: "Must be 'requested' or 'approved' at first." },
}
const ORDER = { error: 'Check the submitted values.', fields: { to: "Must be after 'from'." } }
const OVERLAP = {
  error: 'Overlaps an existing entry.',
  fields: { from: 'Overlaps an existing entry.', to: 'Overlaps an existing entry.' },
}

/** Why a change may be refused, by the rules alone; empty if it may not. */
function reasons(records: readonly Fields[], was: Fields | undefined, is: Fields): unknown[] {
  const found: unknown[] = []
  const [from, to] = [String(was?.status), String(is.status)]
  if (!was && !['requested', 'approved'].includes(to)) found.push(START)
  if (was && from !== to && !NEXT[from]?.includes(to)) {
    found.push({ error: `'status' cannot change from '${from}' to '${to}'.`, fields: undefined })
  }
  if (Number(is.to) <= Number(is.from)) found.push(ORDER)
  const overlaps = (other: Fields) =>
    other !== was &&
    [other.status, is.status].every((status) => COUNTS.includes(status)) &&
    other.tool === is.tool &&
    Number(other.from) < Number(is.to) &&
    Number(is.from) < Number(other.to)
  if (records.some(overlaps)) found.push(OVERLAP)
  return found
}

/** A change of the record at `at`, or a new one. */
interface Change {
  readonly at: number | undefined
  readonly values: Fields
}

function randomChange(random: Random, count: number): Change {
  const from = random.below(12)
  const range = { from, to: from + random.below(5) }
  const tool = random.of(['saw', 'axe'])
  if (count < 3 || random.chance(35)) {
    const start = random.chance(60) ? {} : { status: random.of(STATUSES) }
    return { at: undefined, values: { tool, ...range, ...start } }
  }
  const values = {
    ...(random.chance(70) && { status: random.of(STATUSES) }),
    ...(random.chance(30) && range),
    ...(random.chance(20) && { tool }),
  }
  const isEmpty = Object.keys(values).length === 0
  return { at: random.below(count), values: isEmpty ? { tool } : values }
}

const shownOf = ({ status, tool, from, to }: Fields) => [status, tool, from, to].join(' ')

/** A door, with the ids of the records that it has written, in the order of the trial. */
interface Opened extends Door {
  readonly name: string
  readonly ids: string[]
}

/** Sends a change through every door; resolves to what it came to by the name of the door, undefined for a success. */
async function sent(doors: readonly Opened[], { at, values }: Change, place: number) {
  const refusals: Record<string, unknown> = {}
  for (const { name, ids, create, update } of doors) {
    const outcome = await (at === undefined ? create(values) : update(String(ids[at]), values))
    if ('refused' in outcome) refusals[name] = outcome.refused
    else {
      refusals[name] = undefined
      ids[place] = outcome.id
    }
  }
  return refusals
}

it.each(seeds(2))('every door keeps the rules of a model (seed %i)', async (seed) => {
  const random = new Random(seed)
  const doors: Opened[] = Object.entries(DOORS).map(([name, open]) => ({
    name,
    ids: [],
    ...open(),
  }))
  const records: Fields[] = []
  let refused = 0
  for (let count = 0; count < 60; count += 1) {
    const change = randomChange(random, records.length)
    const place = change.at ?? records.length
    const was = records[place]
    const is = { status: 'requested', ...was, ...change.values }
    const allowed = reasons(records, was, is)
    const refusals = await sent(doors, change, place)
    const [first] = Object.values(refusals)
    const about = JSON.stringify({ was, change, allowed })
    if (allowed.length === 0) {
      expect(first, about).toBeUndefined()
      records[place] = is
    } else {
      expect(allowed, about).toContainEqual(first)
      refused += 1
    }
    for (const [name, refusal] of Object.entries(refusals)) {
      expect(refusal, `${name}: ${about}`).toEqual(first)
    }
  }
  for (const { name, service: made, model } of doors) {
    const found = await made.app.store.collection<Fields>(model as never).find()
    expect(found.map(shownOf).toSorted(), name).toEqual(records.map(shownOf).toSorted())
  }
  expect(refused).toBeGreaterThan(10)
  expect(records.length).toBeGreaterThan(5)
})
