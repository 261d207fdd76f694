/** The store port's promises about `write`: several steps as one. A store without it keeps them by leaving it out. */

import { all, everything, type Filter, withId } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection, Store, WriteStep } from '../../../src/ports/store/store.ts'
import { DuplicateKey } from '../../../src/ports/store/store-errors.ts'
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { containing, holding, namesOf, reading, where } from './ask.ts'
import { newId, people, person } from './people.ts'
import { Random } from './random.ts'

export const named = (name: string): Filter => where('name', 'eq', name)
export const insert = (record: Fields): WriteStep => ({ in: people, insert: record })
export const require = (filter: Filter, exists: boolean): WriteStep => ({
  in: people,
  require: filter,
  exists,
})

/** The index of the step that failed; undefined if all were taken. */
export async function failing(
  store: Store,
  steps: readonly WriteStep[],
): Promise<number | undefined> {
  const outcome = await store.write?.(steps)
  return outcome && 'failed' in outcome ? outcome.failed : undefined
}

/** Several steps as one write. */
export const together: Contract<Store> = {
  async 'a write of several steps takes all of them and tells what each did'(store) {
    if (!store.write) return
    const collection = await holding(
      store,
      { name: 'a', age: 1 },
      { name: 'b', age: 1 },
      { name: 'c', born: new Date(5) },
      { name: 'd' },
      { name: 'e' },
    )
    const [d, e] = await collection.find(reading({ op: 'in', field: 'name', values: ['d', 'e'] }))
    const outcome = await store.write([
      insert(person({ name: 'new', age: 1 })),
      { in: people, updateMany: where('age', 'eq', 1), change: { increment: { age: 1 } } },
      { in: people, update: named('a'), change: { set: { tags: ['first'] } } },
      { in: people, delete: named('c') },
      { in: people, deleteMany: { op: 'in', field: 'name', values: ['d', 'e', 'none'] } },
      { in: people, deleteMany: named('none') },
      require(named('new'), true),
      require(named('c'), false),
    ])
    ok('results' in outcome)
    const { results } = outcome
    deepEqual(
      results.map(({ count }) => count),
      [1, 3, 1, 1, 2, 0, 0, 0],
    )
    const records = results.map((result) => result.records.map(({ _id, ...fields }) => fields))
    deepEqual(records[2], [{ name: 'a', age: 2, tags: ['first'] }])
    deepEqual(records[3], [{ name: 'c', born: new Date(5) }])
    deepEqual(
      results[4]?.records.toSorted((one, other) => (String(one._id) < String(other._id) ? -1 : 1)),
      [d, e],
    )
    equal(await namesOf(collection, everything), 'a b new')
    equal(await collection.count(where('age', 'eq', 2)), 3)
    equal(await namesOf(collection, containing('tags', 'FIRST')), 'a')
    deepEqual(await store.write([]), { results: [] })
  },
  async 'steps on one record see what the steps before have made of it'(store) {
    if (!store.write) return
    const collection = await holding(store)
    const [one, other] = [newId(), newId()]
    const set = (name: string, fields: Fields, expect?: Fields): WriteStep => ({
      in: people,
      update: all([withId(one), named(name)]),
      change: { set: fields },
      ...(expect && { options: { expect } }),
    })
    const outcome = await store.write([
      insert({ _id: one, name: 'new', email: 'x' }),
      require(all([withId(one), named('new')]), true),
      set('new', { name: 'changed', age: 1 }),
      require(named('new'), false),
      set('changed', { name: 'again', email: 'y' }, { name: 'changed', age: 1 }),
      // Its earlier value is free.
      insert({ _id: other, name: 'other', email: 'x' }),
      { in: people, delete: withId(one), options: { expect: { email: 'y' } } },
      insert({ _id: one, name: 'back', email: 'y' }),
    ])
    ok('results' in outcome)
    deepEqual(
      outcome.results.map(({ records: [record] }) => record?.name),
      [undefined, undefined, 'changed', undefined, 'again', undefined, 'again', undefined],
    )
    equal(await namesOf(collection, everything), 'back other')
    equal(await failing(store, [set('back', { name: 'z' }), set('back', { age: 2 })]), 1)
    equal(await namesOf(collection, everything), 'back other')
  },
  async 'a step that fails is told by its index, and nothing is written'(store) {
    if (!store.write) return
    const collection = await holding(store, { name: 'a', age: 1, email: 'x' }, { name: 'b' })
    const before = await collection.find(reading(everything))
    const first = [insert(person({ name: 'new' })), { in: people, deleteMany: named('b') }] as const
    const failures: readonly WriteStep[] = [
      { in: people, update: named('none'), change: { set: { age: 2 } } },
      {
        in: people,
        update: named('a'),
        change: { set: { age: 2 } },
        options: { expect: { age: 2 } },
      },
      { in: people, delete: named('none') },
      { in: people, delete: named('a'), options: { expect: { age: undefined } } },
      require(named('none'), true),
      require(named('a'), false),
      // Gone since the step before.
      require(named('b'), true),
    ]
    for (const failure of failures) {
      equal(await failing(store, [...first, failure, insert(person({ name: 'last' }))]), 2)
      equal(await failing(store, [failure, ...first]), failure === failures.at(-1) ? undefined : 0)
      if (failure !== failures.at(-1)) deepEqual(await collection.find(reading(everything)), before)
    }
    equal(await namesOf(collection, everything), 'a new')
  },
  async 'a unique value that is taken refuses the whole write'(store) {
    if (!store.write) return
    const collection = await holding(store, { name: 'a', email: 'x' }, { name: 'b', tenant: 't' })
    const refused = (step: WriteStep, fields: string) =>
      rejects(
        store.write?.([insert(person({ name: 'new', slug: 's' })), step]) ?? Promise.resolve(),
        (error: unknown) => error instanceof DuplicateKey && error.fields.join() === fields,
      )
    const [a] = await collection.find(reading(named('a')))
    await refused(insert(person({ name: 'c', email: 'x' })), 'email')
    await refused(insert({ _id: a?._id, name: 'c' }), '_id')
    await refused({ in: people, update: named('b'), change: { set: { email: 'x' } } }, 'email')
    equal(await namesOf(collection, everything), 'a b')
  },
  async 'writes of several steps that begin together are taken one after the other'(store) {
    if (!store.write) return
    const collection = await holding(store, { name: 'me', age: 0 })
    const failures = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        failing(store, [
          {
            in: people,
            update: all([named('me'), where('age', 'lt', 3)]),
            change: { increment: { age: 1 } },
          },
          insert(person({ name: 'child', score: at })),
        ]),
      ),
    )
    equal(failures.filter((at) => at === undefined).length, 3)
    equal(await collection.count(named('child')), 3)
  },
  async 'writes that meet in opposite orders are all taken'(store) {
    if (!store.write) return
    const collection = await holding(store, { name: 'a', age: 0 }, { name: 'b', age: 0 })
    const add = (name: string): WriteStep => ({
      in: people,
      update: named(name),
      change: { increment: { age: 1 } },
    })
    const failures = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        failing(store, at % 2 === 0 ? [add('a'), add('b')] : [add('b'), add('a')]),
      ),
    )
    deepEqual(failures, Array(6).fill(undefined))
    equal(await collection.count(where('age', 'eq', 6)), 2)
  },
  async 'no reader sees a part of a write'(store) {
    if (!store.write) return
    const collection = await holding(store, { name: 'a', age: 0 }, { name: 'b', age: 0 })
    let isOver = false
    const writing = (async () => {
      for (let at = 1; at <= 30; at += 1) {
        const change = { set: { age: at } }
        await failing(store, [
          { in: people, update: named('a'), change },
          insert(person({ name: 'c' })),
          { in: people, update: named('b'), change },
          { in: people, delete: named('c') },
        ])
      }
    })().finally(() => {
      isOver = true
    })
    const ageOf = async (name: string) =>
      Number((await collection.find(reading(named(name))))[0]?.age)
    // What is read first is never ahead: `b` is as new as `a` was.
    while (!isOver) {
      const a = await ageOf('a')
      equal(await collection.count(named('c')), 0)
      ok((await ageOf('b')) >= a, 'b is behind a')
      // A store in this process may answer at once, and its writes need a turn.
      await new Promise((resolve) => setTimeout(resolve))
    }
    await writing
  },
  async 'writers that meet leave no record without the one that it required'(store) {
    if (!store.write) return
    for (const seed of [1, 2, 3]) await families(store, new Random(seed))
  },
}

const PARENTS = 3

/** Concurrent writers that add children, move them to other parents, and remove parents without or with theirs. */
async function families(store: Store, random: Random): Promise<void> {
  const collection = await holding(store)
  await collection.updateMany(everything, { set: { friend: null } })
  const parents = Array.from({ length: PARENTS }, () => newId())
  const taken = { birth: 0, child: 0, move: 0, leave: 0, end: 0 }
  const kinds = ['child', 'child', 'birth', 'move', 'leave', 'end'] as const
  async function act(): Promise<void> {
    const parent = parents[random.below(PARENTS)] ?? ''
    const kind = taken.birth === 0 ? 'birth' : random.of(kinds)
    const steps = stepsOf(kind, parent, parents[random.below(PARENTS)] ?? '')
    const isTaken = await failing(store, steps).then((at) => at === undefined, refusedDuplicate)
    if (isTaken) taken[kind] += 1
  }
  // More rounds if, by chance, no child or no end was taken.
  const isTelling = () => taken.child > 0 && taken.end > 0
  for (let round = 0; round < 12 || (!isTelling() && round < 200); round += 1) {
    await Promise.all(Array.from({ length: 8 }, act))
    await noneDangles(collection)
  }
  ok(isTelling(), JSON.stringify(taken))
}

function stepsOf(
  kind: 'birth' | 'child' | 'move' | 'leave' | 'end',
  parent: string,
  other: string,
): readonly WriteStep[] {
  const children = where('friend', 'eq', parent)
  switch (kind) {
    case 'birth':
      return [insert({ _id: parent, name: 'parent' })]
    case 'child':
      return [require(withId(parent), true), insert(person({ name: 'child', friend: parent }))]
    case 'move':
      return [
        require(withId(other), true),
        { in: people, update: children, change: { set: { friend: other } } },
      ]
    case 'leave':
      return [require(children, false), { in: people, delete: withId(parent) }]
    case 'end':
      return [
        { in: people, delete: withId(parent) },
        { in: people, deleteMany: children },
      ]
  }
}

async function noneDangles(collection: Collection): Promise<void> {
  const found = await collection.find(reading(everything))
  const ids = new Set(found.map(({ _id }) => _id))
  const dangling = found.filter(({ friend }) => typeof friend === 'string' && !ids.has(friend))
  deepEqual(dangling, [])
}

function refusedDuplicate(error: unknown): false {
  ok(error instanceof DuplicateKey, String(error))
  return false
}
