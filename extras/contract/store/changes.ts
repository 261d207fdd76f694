/** The port's promises about the log of changes. A store without one keeps them by leaving `changes` out. */

import type { ChangeLog, LoggedChange } from '../../../src/ports/store/changes.ts'
import { withId } from '../../../src/ports/store/filter.ts'
import type { CollectionSchema, Store, WriteStep } from '../../../src/ports/store/store.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { newId, people } from './people.ts'
import { named } from './together.ts'

const logged: CollectionSchema = {
  ...people,
  logged: { model: 'Person', keepMs: Number.POSITIVE_INFINITY },
}
const pets: CollectionSchema = {
  ...people,
  name: 'pets',
  logged: { model: 'Pet', keepMs: Number.POSITIVE_INFINITY },
}

/** What the log of changes has, for a store that keeps one. */
export const changes: Contract<Store> = {
  async 'the log has what each step did to each record, in the order of the steps'(store) {
    const log = await opened(store)
    if (!log) return
    const start = await log.position()
    const [a, b, c] = [newId(), newId(), newId()]
    const insert = (_id: string, age: number): WriteStep => {
      return { in: logged, by: 'ann', insert: { _id, name: 'x', age, born: new Date(5) } }
    }
    const outcome = await taken(store, [
      insert(a, 1),
      insert(b, 2),
      { in: logged, by: null, update: withId(a), change: { increment: { age: 5 } } },
      { in: logged, by: 'key:1', updateMany: named('x'), change: { set: { score: 3 } } },
      { in: logged, by: 'ann', insert: { _id: c, name: 'c' } },
      { in: logged, by: 'ann', delete: withId(b) },
      { in: logged, deleteMany: { op: 'in', field: '_id', values: [a, c] } },
      // Its changes are not logged.
      { in: { ...people, name: 'others' }, insert: { _id: newId(), name: 'other' } },
    ])
    const found = await readAll(log, start, outcome.length)
    const born = new Date(5)
    deepEqual(kindsOf(found, a), ['created ann', 'updated null', 'updated key:1', 'removed null'])
    deepEqual(kindsOf(found, b), ['created ann', 'updated key:1', 'removed ann'])
    deepEqual(kindsOf(found, c), ['created ann', 'removed null'])
    deepEqual(
      found.filter(({ kind }) => kind === 'created').map(({ after }) => after?._id),
      [a, b, c],
    )
    const [, changed, scored, removed] = found.filter((one) => idOf(one) === a)
    deepEqual(changed?.before, { _id: a, name: 'x', age: 1, born })
    deepEqual(changed?.after, { _id: a, name: 'x', age: 6, born })
    deepEqual(scored?.after, { _id: a, name: 'x', age: 6, born, score: 3 })
    deepEqual([removed?.before, removed?.after], [scored?.after, null])
    deepEqual(
      outcome.map(({ id, model, record }) => [id, model, record]),
      found.map((one) => [one.id, one.model, idOf(one)]),
    )
    deepEqual([...outcome].sort(byId), outcome)
    ok(found.every(({ at }, n) => at.getTime() >= (found[n - 1]?.at.getTime() ?? 0)))
    deepEqual(
      (await log.history('Person', a, { limit: 2 })).map(({ id }) => id),
      [removed?.id, scored?.id],
    )
    deepEqual(await log.history('Person', a, { limit: 1, upTo: changed?.id }), [changed])
    deepEqual(await log.history('Pet', a, { limit: 1 }), [])
  },
  async 'the log has no entry for what leaves a record as it was, and none for a write that fails'(
    store,
  ) {
    const log = await opened(store)
    if (!log) return
    const _id = newId()
    const record = { _id, name: 'a', age: 1, tags: ['x'], address: { city: 'Bern' } }
    const [inserted] = await taken(store, [{ in: logged, insert: record }])
    const set = { name: 'a', age: 1, tags: ['x'], 'address.city': 'Bern' }
    deepEqual(await taken(store, [{ in: logged, update: withId(_id), change: { set } }]), [])
    const one: WriteStep = { in: logged, update: withId(_id), change: { set: { age: 2 } } }
    deepEqual(await store.write?.([one, { in: logged, delete: named('nobody') }]), { failed: 1 })
    const taking = store.write?.([one, { in: logged, insert: record }])
    ok(
      await taking?.then(
        () => false,
        () => true,
      ),
    )
    // A collection's own writes, of which nobody tells who does them.
    await store.collection(logged).update(withId(_id), { set: { age: 3 } })
    await taken(store, [{ in: logged, update: withId(_id), change: { set: { age: 4 } } }])
    const found = await readAll(log, inserted?.id ?? '', 1)
    deepEqual(
      found.map(({ before: was, after }) => [was?.age, after?.age]),
      [[3, 4]],
    )
  },
  async 'reading on gives the entries of the models that are asked for, each once'(store) {
    const log = await opened(store)
    if (!log) return
    const start = await log.position()
    for (let at = 0; at < 12; at += 1) {
      await taken(store, [{ in: at % 3 === 0 ? pets : logged, insert: { _id: newId(), age: at } }])
    }
    const agesOf = (found: readonly LoggedChange[]) => found.map(({ after }) => Number(after?.age))
    deepEqual(
      agesOf(await readAll(log, start, 12, { limit: 5 })),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    )
    deepEqual(agesOf(await readAll(log, start, 4, { limit: 2, models: ['Pet'] })), [0, 3, 6, 9])
    equal((await readAll(log, start, 12, { limit: 3, models: ['Pet', 'Person'] })).length, 12)
    const [, second] = await readAll(log, start, 12)
    deepEqual(agesOf(await readAll(log, second?.id ?? '', 10)), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    const end = await log.position()
    deepEqual(await log.read(end, { limit: 5 }), { changes: [], position: end })
  },
  async 'a reader misses nothing of writers that meet, and gets each record in its order'(store) {
    const log = await opened(store)
    if (!log) return
    const ids = Array.from({ length: 4 }, () => newId())
    const made = await taken(
      store,
      ids.map((_id): WriteStep => ({ in: logged, insert: { _id, age: 0 } })),
    )
    const start = made.at(-1)?.id ?? ''
    let isOver = false
    let noted = 0
    const writer = async (number: number) => {
      for (let round = 0; round < 12; round += 1) {
        const own = [ids[(number + round) % 4], ids[(number * 3 + round) % 4]].filter(
          (id, at, both) => both.indexOf(id) === at,
        )
        const steps = own.map((id): WriteStep => {
          return { in: logged, update: withId(String(id)), change: { increment: { age: 1 } } }
        })
        const pet: WriteStep = { in: pets, insert: { _id: newId(), age: number } }
        const { length } = await taken(store, [...steps, pet])
        noted += length
      }
    }
    const writing = Promise.all([1, 2, 3, 4, 5, 6].map(writer)).finally(() => {
      isOver = true
    })
    const found: LoggedChange[] = []
    for (let after = start; ; ) {
      const wasOver = isOver
      const read = await log.read(after, { limit: 7 })
      ok('changes' in read)
      found.push(...read.changes)
      after = read.position
      if (wasOver && found.length >= noted) break
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await writing
    equal(new Set(found.map(({ id }) => id)).size, found.length)
    equal(found.filter(({ model }) => model === 'Pet').length, 72)
    deepEqual(
      found.map(({ id }) => id).sort(),
      found.map(({ id }) => id),
    )
    for (const id of ids) {
      const own = found.filter((one) => idOf(one) === id)
      own.forEach(({ before, after }, at) => {
        deepEqual([before?.age, after?.age], [at, at + 1])
      })
      const [record] = await store
        .collection(logged)
        .find({ filter: withId(id), sort: [], limit: 1 })
      equal(record?.age, own.length)
    }
  },
  async 'a position is gone if the log does not know it, or has dropped entries after it'(store) {
    const log = await opened(store)
    if (!log) return
    const isGone = async (after: string, models?: readonly string[], lossy = false) =>
      'gone' in (await log.read(after, { limit: 5, models, lossy }))
    const start = await log.position()
    await taken(store, [{ in: pets, insert: { _id: newId() } }])
    for (const position of ['', 'x', `${start}0`, start.toUpperCase(), otherDigits(start)]) {
      ok(await isGone(position, undefined, true), position)
    }
    const brief = { ...logged, logged: { model: 'Person', keepMs: 1 } }
    const [late] = await taken(store, [{ in: brief, insert: { _id: newId() } }])
    const [last] = await taken(store, [{ in: brief, insert: { _id: newId() } }])
    for (let tries = 0; tries < 400 && !(await isGone(late?.id ?? '')); tries += 1) {
      await store.prepare([brief, pets])
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    ok(await isGone(late?.id ?? ''))
    ok(await isGone(late?.id ?? '', ['Person']))
    ok(!(await isGone(start, ['Pet'])))
    for (const after of [undefined, start]) {
      const left = await log.read(after, { limit: 5, lossy: true })
      deepEqual('changes' in left && left.changes.map(({ model }) => model).slice(0, 1), ['Pet'])
    }
    const end = last?.id ?? ''
    deepEqual(await log.read(end, { limit: 5 }), { changes: [], position: end })
  },
  async 'who waits for changes is woken'(store) {
    const log = await opened(store)
    if (!log) return
    const woken = Promise.withResolvers<void>()
    const end = log.wake(() => woken.resolve())
    const kept = setInterval(() => {}, 1000)
    await taken(store, [{ in: logged, insert: { _id: newId() } }])
    await woken.promise
    end()
    clearInterval(kept)
  },
}

/** The log of a store that is prepared; undefined if it has none. */
async function opened(store: Store): Promise<ChangeLog | undefined> {
  if (!store.changes) return undefined
  await store.prepare([logged, pets, { ...people, name: 'others' }])
  return store.changes
}

/** What a write that is taken has noted. */
async function taken(store: Store, steps: readonly WriteStep[]) {
  const outcome = await store.write?.(steps)
  ok(outcome && 'results' in outcome, JSON.stringify(outcome))
  return outcome.noted ?? []
}

/** The first entries after a position, `count` of them. They come once nothing can come before them any more. */
async function readAll(
  log: ChangeLog,
  start: string,
  count: number,
  options: { readonly limit: number; readonly models?: readonly string[] } = { limit: 100 },
): Promise<LoggedChange[]> {
  const found: LoggedChange[] = []
  for (let after = start; found.length < count; ) {
    const read = await log.read(after, options)
    ok('changes' in read, `${after} is gone`)
    ok(read.changes.length <= options.limit)
    found.push(...read.changes)
    after = read.position
    if (read.changes.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return found
}

function idOf({ before, after }: LoggedChange): unknown {
  return (after ?? before)?._id
}

function kindsOf(found: readonly LoggedChange[], id: string): string[] {
  return found.filter((one) => idOf(one) === id).map(({ kind, by }) => `${kind} ${by}`)
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1
}

/** A position of another database. */
function otherDigits(position: string): string {
  return position.replace(/^./, (first) => (first === '0' ? '1' : '0'))
}
