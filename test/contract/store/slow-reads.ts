/**
 * Reads that no index serves, over a file with many records: they hold up nobody, and can be ended.
 *
 * @module
 */

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { PACE, type Pace } from '../../../adapters/stores/sqlite/connection/paced-reads.ts'
import { openStore } from '../../../adapters/stores/sqlite/store/open.ts'
import type { Contract } from '../../../extras/contract/index.ts'
import { containing, keys, namesOf, where } from '../../../extras/contract/store/ask.ts'
import { people, person } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { ReadHints } from '../../../src/ports/store/records.ts'
import type { Collection, CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { StoreTimeout, StoreUnavailable } from '../../../src/ports/store/store-errors.ts'

/** Reads that cannot be interrupted leave the main thread earlier than is set for apps: a file is filled sooner. */
const pace = { ...PACE, rows: 80_000, threads: 1 }

/** How many records the file has: more than are counted on the main thread. */
export const MANY = 100_000

const schema: CollectionSchema = { ...people, searchable: ['name'] }

/** Fills a new file with records: their `score` is their number, and the last one is called `zq`. */
export async function fillFile(path: string): Promise<void> {
  const bare = openStore(path)
  await bare.prepare([{ ...schema, searchable: [] }])
  await bare.close()
  const db = new DatabaseSync(path)
  db.exec(`INSERT INTO people (_id, doc)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
    SELECT printf('%024x', n), json_object('_id', printf('%024x', n), 'score', n, 'age', n % 100,
      'name', iif(n = ${MANY}, 'zq', 'name ' || n), 'address', json_object('city', 'city ' || n)) FROM numbers`)
  db.close()
  const store = openStore(path)
  await store.prepare([schema])
  await store.close()
}

/** Opens a store over such a file, with one thread. */
export async function openMany(path: string, given: Partial<Pace> = {}): Promise<Store> {
  const store = openStore(path, { ...pace, ...given })
  await store.prepare([schema])
  return store
}

/** The collection in such a store. */
export const manyIn = (store: Store): Collection => store.collection(schema)

/** How to ask for it, with a time limit of one's own so that no count is known already; and its answer. */
type Slow = readonly [
  ask: (many: Collection, timeLimitMs: number) => Promise<unknown>,
  answer: unknown,
]

const lastCity = where('address.city', 'eq', `city ${MANY}`)

/** The last of the largest groups by `field`, and the number of its records. */
async function groups(many: Collection, field: string, hints: ReadHints): Promise<string> {
  const sort = [1, 0].map((column) => ({ column, descending: true }))
  const read = { filter: everything, by: [{ field }], measures: [{ op: 'count' }] as const, sort }
  return String(await many.aggregate?.({ ...read, limit: 1, hints }))
}

/** What takes long, and its answers. */
export const slow = {
  'a filter without an index': [(many) => namesOf(many, lastCity), 'zq'],
  'a deep offset': [
    (many) => namesOf(many, everything, { sort: keys('-score', '_id'), skip: MANY - 2 }),
    'name 2 name 1',
  ],
  'a short search term': [(many) => namesOf(many, containing('name', 'ZQ')), 'zq'],
  'a pattern': [(many) => namesOf(many, { op: 'matches', field: 'name', pattern: '^zq$' }), 'zq'],
  'a count': [(many, timeLimitMs) => many.count(where('age', 'lt', 50), { timeLimitMs }), MANY / 2],
  'a count of everything': [(many, timeLimitMs) => many.count(everything, { timeLimitMs }), MANY],
  'groups without an index': [
    (many, timeLimitMs) => groups(many, 'age', { timeLimitMs }),
    `99,${MANY / 100}`,
  ],
  'groups in an index': [
    (many, timeLimitMs) => groups(many, 'score', { timeLimitMs }),
    `${MANY},1`,
  ],
  'a sort without an index': [
    (many) => namesOf(many, everything, { sort: keys('-name', '_id'), limit: 2 }),
    'zq name 99999',
  ],
} as const satisfies Readonly<Record<string, Slow>>

const first = where('score', 'eq', 1)

const MOST_TRIES = 10

/** Takes a second or more: fifty searches of each record. */
function longest(many: Collection, hints?: ReadHints): Promise<number> {
  const filters = Array.from({ length: 50 }, (_, at) => containing('name', `${at % 10}x`))
  return many.count({ op: 'or', filters }, hints)
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  await null
  return isSettled
}

/** The sentences, for a store that `openMany` has opened. */
export const slowReads: Contract<Store> = {
  ...Object.fromEntries(
    Object.entries(slow).map(([name, [ask, answer]]) => [
      `${name}: others are answered meanwhile`,
      async (store: Store) => {
        const many = manyIn(store)
        let meanwhile = 0
        // The second time it is known to be slow. On a busy machine the others may come late.
        for (let time = 0; time < 2 || (time < MOST_TRIES && meanwhile === 0); time += 1) {
          const asked = ask(many, 60_000 + time)
          equal(await namesOf(many, first), 'name 1')
          equal(await namesOf(many, where('_id', 'eq', '1'.padStart(24, '0'))), 'name 1')
          if (!(await isSettled(asked))) meanwhile += 1
          deepEqual(await asked, answer)
        }
        ok(meanwhile > 0)
      },
    ]),
  ),
  async 'a slow read sees what was written before it'(store) {
    const many = manyIn(store)
    const record = person({ name: 'new', address: { city: 'nowhere' } })
    for (let time = 0; time < 2; time += 1) {
      await many.insert(record)
      equal(await namesOf(many, where('address.city', 'eq', 'nowhere')), 'new')
      equal(await many.count(everything), MANY + 1)
      await many.delete(where('_id', 'eq', String(record._id)))
      equal(await namesOf(many, where('address.city', 'eq', 'nowhere')), '')
      equal(await many.count(everything), MANY)
    }
  },
  async 'a time limit ends it, also while it waits for another one'(store) {
    const many = manyIn(store)
    const before = longest(many)
    await rejects(longest(many, { timeLimitMs: 50 }), StoreTimeout)
    ok(!(await isSettled(before)))
    equal(await before, 0)
    await rejects(longest(many, { timeLimitMs: 100 }), StoreTimeout)
    for (const field of ['age', 'score']) {
      await rejects(groups(many, field, { timeLimitMs: 5 }), StoreTimeout)
    }
  },
  async 'an aborted signal ends it with its reason: one that runs, and one that waits'(store) {
    const many = manyIn(store)
    const [running, waiting] = [new AbortController(), new AbortController()]
    const reads = [running, waiting].map(({ signal }, at) =>
      longest(many, { signal, timeLimitMs: 60_000 + at }),
    )
    const other = many.count(where('age', 'lt', 50))
    await turn()
    const reason = new Error('the client has gone')
    waiting.abort(reason)
    await rejects(reads[1] ?? other, reason)
    ok(reads[0] && !(await isSettled(reads[0])))
    running.abort(reason)
    await rejects(reads[0], reason)
    equal(await other, MANY / 2)
  },
  async 'who aborts a count ends it for nobody else'(store) {
    const many = manyIn(store)
    const controller = new AbortController()
    const counts = [longest(many, { signal: controller.signal }), longest(many), longest(many)]
    const reason = new Error('the client has gone')
    await turn()
    controller.abort(reason)
    await rejects(counts.shift() ?? many.count(first), reason)
    deepEqual(await Promise.all(counts), [0, 0])
  },
  async 'close ends it, and what waits for it'(store) {
    const many = manyIn(store)
    const reads = [longest(many), many.count(lastCity), namesOf(many, lastCity)]
    const ended = Promise.all(reads.map((read) => rejects(read, StoreUnavailable)))
    await turn()
    await store.close()
    await ended
  },
}
