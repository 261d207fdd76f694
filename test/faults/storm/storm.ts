/**
 * Many writes of all kinds at once, while the way to the database fails in one way after the other: none is a 500, a request
 * with a key is carried out once, and soon after everything works again.
 *
 * @module
 */

import { expect, vi } from 'vitest'
import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import { idempotency } from '../../../src/guards/index.ts'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  ref,
  type Store,
} from '../../../src/index.ts'
import { recordedLog } from '../../records/service.ts'
import { type Gate, gateTo } from '../../services/gate.ts'

const User = defineModel('User', {
  fields: { name: z.string() },
  collection: 'storm_users',
  changes: true,
})
const Task = defineModel('Task', {
  fields: {
    title: z.string().optional(),
    n: z.number().optional(),
    status: z.enum(['open', 'doing', 'done']).optional(),
    owner: ref('User', { onDelete: 'cascade' }).optional(),
    part: z.object({ a: z.number().optional(), b: z.number().optional() }).optional(),
    room: z.string().optional(),
    from: z.number().optional(),
    to: z.number().optional(),
  },
  collection: 'storm_tasks',
  changes: true,
  transitions: { status: { open: ['doing'], doing: ['done', 'open'], done: ['open'] } },
  exclude: [{ equal: ['room'], range: ['from', 'to'] }],
  indexes: ['title'],
})

const allowedFields = ['title', 'n', 'status', 'owner', 'part', 'room', 'from', 'to'] as const

/** How the way fails, until it is opened. */
const FAULTS: readonly ((gate: Gate) => unknown)[] = [
  (gate) => gate.stick(),
  (gate) => gate.shut(),
  (gate) => gate.slow(100),
  (gate) => gate.spoil('reset'),
  (gate) => gate.spoil('half'),
  (gate) => gate.spoil('garbage'),
]
const AT_ONCE = 100
const KEYS = 4
/** A call that waits is looked after when it has waited for 2.5 seconds. */
const RECOVERY = { timeout: 12_000, interval: 100 }

interface Answer {
  readonly status: number
  readonly data: { readonly _id: string } & readonly unknown[]
}

/** Each fault `times` times, before the server at `url`; `storeAt` makes a store at a port of this machine. */
export async function storm(
  url: string,
  storeAt: (port: number) => Store,
  times: number,
): Promise<void> {
  const gate = await gateTo(url)
  const log = recordedLog()
  const app = stormy(storeAt(gate.port), log)
  try {
    await app.ready()
    for (let time = 0; time < times; time += 1) {
      for (const [at, fault] of FAULTS.entries()) await round(app, gate, fault, `${time}.${at}`)
    }
    const failures = log.lines.filter(({ details }) => details.status === 500)
    expect(failures).toEqual([])
  } finally {
    await gate.open()
    await app.close()
    await gate.shut()
  }
}

function stormy(store: Store, logger: ReturnType<typeof recordedLog>): App {
  const app = createApp({ store, logger, env: {}, requestTimeoutMs: 1500 })
  const open = { middlewares: [idempotency({ ttlSeconds: 600 })] }
  app.mount('/users', createRouter({ model: User, ...open, allowedFields: ['name'] }))
  app.mount('/tasks', createRouter({ model: Task, ...open, query: ['title'], allowedFields }))
  const beforeUpdate = () => {}
  const judged = { model: Task, middlewares: [], allowedFields, beforeUpdate }
  return app.mount('/judged', createRouter(judged)).mount('/batch', batch())
}

async function round(
  app: App,
  gate: Gate,
  fault: (gate: Gate) => unknown,
  name: string,
): Promise<void> {
  const send = async (method: string, path: string, body?: object, key = ''): Promise<Answer> => {
    const headers = { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await app.handle(new Request(`http://localhost${path}`, init))
    return { status: response.status, data: (await response.json()).data }
  }
  const make = async (path: string, body: object) => (await send('POST', path, body)).data._id
  const owner = await make('/users', { name })
  const task = await make('/tasks', { title: name, status: 'open', owner })
  const acts = actsOn(task, owner)
  const keyed = (key: number) =>
    send('POST', '/tasks', { title: `${name}.${key}` }, `${name}.${key}`)
  const confirmed = new Map<number, string>()
  setTimeout(() => fault(gate), 20)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, at) => {
      const { status, data } = await (at % 3 > 0
        ? send(...(acts[at % acts.length] as Act))
        : keyed(at % KEYS))
      if (at % 3 === 0 && status === 201) confirmed.set(at % KEYS, data._id)
    }),
  )
  await gate.open()
  const patched = async () => (await send('PATCH', `/judged/${task}`, { n: 1 })).status
  await vi.waitFor(async () => expect(await patched()).toBe(200), RECOVERY)
  for (let key = 0; key < KEYS; key += 1) {
    await vi.waitFor(async () => expect((await keyed(key)).status).toBe(201), RECOVERY)
    const { _id } = (await keyed(key)).data
    expect(confirmed.get(key) ?? _id).toBe(_id)
    expect((await send('GET', `/tasks?title=${name}.${key}`)).data).toHaveLength(1)
  }
}

type Act = readonly [method: string, path: string, body?: object]

function actsOn(task: string, owner: string): readonly Act[] {
  const path = `/tasks/${task}`
  const operations = [
    { method: 'PATCH', path, body: { n: 2 } },
    { method: 'POST', path: '/tasks', body: { owner } },
  ]
  return [
    ['PATCH', path, { n: 1 }],
    ['PATCH', path, { part: { a: 1 } }],
    ['PATCH', path, { status: 'doing' }],
    ['PATCH', path, { status: 'open' }],
    ['PATCH', path, { room: 'a', from: 1, to: 2 }],
    ['POST', '/tasks', { room: 'a', from: 2, to: 3 }],
    ['POST', '/tasks', { owner }],
    ['PATCH', `/judged/${task}`, { n: 3 }],
    ['POST', '/batch', { operations }],
    ['GET', '/tasks'],
    ['GET', path],
  ]
}
