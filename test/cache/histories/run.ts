/**
 * Runs clients against apps that share a database and a cache, and writes down what each of them saw.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type App,
  type Collection,
  createApp,
  createRouter,
  defineModel,
  type Guard,
  type Store,
} from '../../../src/index.ts'
import { randomFrom } from '../../random.ts'
import { answerOf, recordedLog, request } from '../../records/service.ts'
import type { Fault, FaultyCache } from '../faulty.ts'
import type { Operation } from './register.ts'

/** What a history is made of. */
export interface Plan {
  readonly seed: number
  /** How many apps answer; each has its own mark on which of its models are being written. */
  readonly apps: number
  readonly cache: FaultyCache
  /** What may go wrong with the cache meanwhile. */
  readonly faults?: readonly Fault[]
  readonly timeoutMs?: number
}

/** What was seen of each record, and how often an answer came from the cache. */
export interface Seen {
  readonly histories: readonly (readonly Operation[])[]
  readonly hits: number
}

const RECORDS = 2
const CLIENTS = 6
const TURNS = 12
const MAX_PAUSE_MS = 3

const Counter = defineModel('Counter', { fields: { n: z.number(), name: z.string() } })

const identify: Guard = (request) => {
  const userId = request.headers.get('x-user')
  if (userId) request.auth = { userId, role: 'user' }
}

/** One history. */
export async function run(plan: Plan): Promise<Seen> {
  const random = randomFrom(plan.seed)
  const store = slowed(sqliteStore(), () => random() * MAX_PAUSE_MS)
  const apps = Array.from({ length: plan.apps }, () => appOn(store, plan))
  const { cache } = plan
  const histories: Operation[][] = Array.from({ length: RECORDS }, () => [])
  let time = 0
  let hits = 0
  let value = RECORDS

  const send = async (...message: Parameters<typeof request>) => {
    const app = apps[Math.floor(random() * apps.length)] as App
    const answer = await answerOf(await app.handle(request(...message)))
    if (answer.status !== 200) throw new Error(`${message[0]} answered ${answer.text}`)
    if (answer.headers.get('x-cache') === 'HIT') hits += 1
    return answer
  }
  const ids = await Promise.all(
    histories.map(async (history, n) => {
      const [app] = apps as [App]
      const { _id } = await app.store.collection(Counter).insert({ n, name: `counter ${n}` })
      history.push({ kind: 'write', value: n, start: time++, end: time++ })
      return _id
    }),
  )
  const note = (kind: Operation['kind'], at: number, seen: unknown, start: number, end: number) =>
    histories[at]?.push({ kind, value: Number(seen), start, end })

  const write = async () => {
    const at = Math.floor(random() * RECORDS)
    const n = value++
    const start = time++
    await send('PATCH', `/counters/${ids[at]}`, { json: { n } })
    note('write', at, n, start, time++)
  }
  const read = async (headers: Record<string, string>) => {
    const at = Math.floor(random() * RECORDS)
    const start = time++
    const answer = await send('GET', `/counters/${ids[at]}`, { headers })
    note('read', at, answer.record.n, start, time++)
  }
  const readAll = async (headers: Record<string, string>) => {
    const start = time++
    const answer =
      random() < 0.5
        ? await send('GET', '/counters', { headers })
        : await send('QUERY', '/counters', { json: { sort: 'n' }, headers })
    const end = time++
    for (const { _id, n } of answer.records) note('read', ids.indexOf(String(_id)), n, start, end)
  }
  const client = async (user: string) => {
    const headers = user === '' ? {} : { 'x-user': user }
    for (let turn = 0; turn < TURNS; turn += 1) {
      await delay(random() * MAX_PAUSE_MS)
      const choice = random()
      if (choice < 0.06) await write()
      else if (choice < 0.75) await read(headers)
      else await readAll(headers)
    }
  }

  let running = true
  const weather = async () => {
    const { faults } = plan
    while (running && faults) {
      await delay(random() * 40)
      cache.fault =
        random() < 0.5 ? 'none' : (faults[Math.floor(random() * faults.length)] ?? 'none')
    }
    cache.fault = 'none'
  }
  cache.pause = () => random() * MAX_PAUSE_MS
  const changing = weather()
  await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => client(['', 'ann', 'bob'][at % 3] ?? '')),
  )
  running = false
  await changing
  // The outage is over: whoever asks now must see the last word.
  for (const _ of apps) await Promise.all([read({}), readAll({ 'x-user': 'ann' })])
  await Promise.all(apps.map((app) => app.close()))
  return { histories, hits }
}

function appOn(store: Store, { cache, timeoutMs = 1000 }: Plan): App {
  const app = createApp({ store, cache, env: {}, logger: recordedLog() })
  const router = createRouter({
    model: Counter,
    query: ['n', 'name'],
    allowedFields: ['n'],
    cache: { timeoutMs },
  })
  return app.use(identify).mount('/counters', router)
}

/** A store whose reads and writes take their time, before and after they are done. */
function slowed(store: Store, pause: () => number): Store {
  const slow = async <T>(call: () => Promise<T>): Promise<T> => {
    await delay(pause())
    const result = await call()
    await delay(pause())
    return result
  }
  return {
    ...store,
    collection(schema) {
      const own = store.collection(schema)
      const collection: Collection = {
        find: (read) => slow(() => own.find(read)),
        findJson: (read) => slow(async () => own.findJson?.(read) ?? []),
        count: (filter) => slow(() => own.count(filter)),
        estimate: () => own.estimate(),
        insert: (record) => slow(() => own.insert(record)),
        update: (filter, change, options) => slow(() => own.update(filter, change, options)),
        updateMany: (filter, change) => slow(() => own.updateMany(filter, change)),
        delete: (filter, options) => slow(() => own.delete(filter, options)),
      }
      return collection
    },
    // Shared by several apps, and gone with the test.
    close: async () => {},
  }
}
