/** The store port's promises about writes, start-up and shutdown. */

import { everything } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection, Store } from '../../../src/ports/store/store.ts'
import { DuplicateKey } from '../../../src/ports/store/store-errors.ts'
import { deepEqual, equal, ok, rejects } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { containing, holding, namesOf, reading, where } from './ask.ts'
import { newId, person } from './people.ts'

const me = where('name', 'eq', 'me')

async function mine(people: Collection): Promise<Fields> {
  const [{ _id, ...fields } = {}] = await people.find(reading(me))
  return fields
}

/** A record with values of every kind. */
const whole: Fields = {
  name: 'whole',
  age: null,
  score: 0.1,
  member: false,
  born: new Date('2024-02-29T12:34:56.789Z'),
  friend: newId(),
  friends: [newId()],
  tags: [],
  visits: [new Date(1), new Date(-1)],
  address: { since: new Date(0), city: null },
  homes: [{ rooms: 1, city: 'x' }],
  any: { z: [1, 'a', null, { deep: true }], a: 1 },
  by: { first: new Date(3) },
}

/** Writes. */
export const writes: Contract<Store> = {
  async 'a record comes back exactly: dates, ids, nulls, nesting'(store) {
    const people = await holding(store)
    const record = person(whole)
    await people.insert(record)
    deepEqual(await people.find(reading(everything)), [record])
  },
  async 'members of objects keep their order'(store) {
    const people = await holding(store)
    const record = person(whole)
    await people.insert(record)
    const [back] = await people.find(reading(everything))
    equal(JSON.stringify(back), JSON.stringify(record))
  },
  async 'objects inside a free value may call their members as they like, _id among them'(store) {
    const people = await holding(store)
    const any = [{ _id: { _bsontype: 'ObjectId', id: [1] } }, { _id: [{ $a: 1, 'b.c': 2, '': 3 }] }]
    const record = person({ name: 'odd', any })
    await people.insert(record)
    deepEqual(await people.find(reading(everything)), [record])
    await people.update(where('name', 'eq', 'odd'), { set: { any: any.toReversed() } })
    deepEqual(await people.find(reading(everything)), [{ ...record, any: any.toReversed() }])
  },
  async 'a taken unique value is refused with its fields, and nothing is stored'(store) {
    const people = await holding(store, { name: 'a', email: 'x', tenant: 't', slug: 's' })
    const fieldsOf = async (fields: Fields): Promise<readonly string[]> => {
      const error = await people.insert(person(fields)).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      ok(error instanceof DuplicateKey, String(error))
      return error.fields
    }
    deepEqual(await fieldsOf({ name: 'b', email: 'x' }), ['email'])
    deepEqual(await fieldsOf({ name: 'b', tenant: 't', slug: 's' }), ['tenant', 'slug'])
    equal(await people.count(everything), 1)
    await people.insert(person({ name: 'c', tenant: 't', slug: 'other' }))
    await rejects(people.update(where('name', 'eq', 'c'), { set: { slug: 's' } }), DuplicateKey)
    equal(await people.count(where('slug', 'eq', 'other')), 1)
  },
  async 'a taken _id is refused'(store) {
    const people = await holding(store)
    const record = person({ name: 'a' })
    await people.insert(record)
    await rejects(people.insert({ ...record, name: 'b' }), (error: DuplicateKey) => {
      deepEqual(error.fields, ['_id'])
      return error instanceof DuplicateKey
    })
    equal(await namesOf(people, everything), 'a')
  },
  async 'records without a unique field, or with null in it, clash with none'(store) {
    const people = await holding(
      store,
      { name: 'a' },
      { name: 'b', email: null },
      { name: 'c', email: null, tenant: 't' },
      { name: 'd', tenant: 't' },
      { name: 'e', tenant: 't', slug: null },
    )
    equal(await people.count(everything), 5)
  },
  async 'one bad record of many at once fails alone'(store) {
    const people = await holding(store, { name: 'first', email: 'taken' })
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        people.insert(person({ name: `n${at}`, email: at % 5 === 0 ? 'taken' : `e${at}` })),
      ),
    )
    equal(results.filter((result) => result.status === 'rejected').length, 4)
    equal(await people.count(everything), 17)
  },
  async 'an update sets, unsets, increments, pushes and pulls in one step'(store) {
    const people = await holding(store, {
      name: 'me',
      age: 1,
      score: 5,
      tags: ['a'],
      sessions: [{ id: 'x' }, { id: 'y' }],
    })
    const after = await people.update(me, {
      set: { 'address.city': 'Ur', born: new Date(9) },
      unset: ['score', 'member'],
      increment: { age: 2 },
      push: { tags: { value: 'b' } },
      pull: { sessions: { key: 'id', value: 'x' } },
    })
    const { _id, ...fields } = after ?? {}
    const expected = {
      name: 'me',
      age: 3,
      tags: ['a', 'b'],
      sessions: [{ id: 'y' }],
      address: { city: 'Ur' },
      born: new Date(9),
    }
    deepEqual({ ...fields }, expected)
    deepEqual(await mine(people), expected)
  },
  async 'an update replaces whole values and answers null where nothing matches'(store) {
    const people = await holding(store, { name: 'me', address: { city: 'Ur', since: new Date(1) } })
    await people.update(me, { set: { address: { city: 'Uruk' }, age: null } })
    deepEqual(await mine(people), { name: 'me', address: { city: 'Uruk' }, age: null })
    equal(await people.update(where('name', 'eq', 'nobody'), { set: { age: 1 } }), null)
  },
  async 'text that looks like an operator is only text'(store) {
    const people = await holding(store, { name: 'me' })
    const any = { text: '$name', path: '$$ROOT', list: ['$score'] }
    await people.update(me, {
      set: { any, tags: ['$name'] },
      push: { friends: { value: newId() } },
    })
    await people.update(me, { push: { tags: { value: '$tags' } }, set: { email: '$$NOW' } })
    const { friends, ...fields } = await mine(people)
    deepEqual(fields, { name: 'me', any, tags: ['$name', '$tags'], email: '$$NOW' })
  },
  async 'increment and push count null and missing as 0 and as an empty list'(store) {
    const people = await holding(store, { name: 'me', age: null, sessions: null })
    await people.update(me, {
      increment: { age: 1, score: 2 },
      push: { sessions: { value: { id: 'a' } }, marks: { value: 1 } },
    })
    deepEqual(await mine(people), {
      name: 'me',
      age: 1,
      sessions: [{ id: 'a' }],
      score: 2,
      marks: [1],
    })
    await people.update(me, { pull: { homes: { key: 'city', value: 'x' } } })
    equal((await mine(people)).homes ?? undefined, undefined)
  },
  async 'a write inside null or nothing makes the object, and a removal inside it changes nothing'(
    store,
  ) {
    for (const absent of [{ address: null }, {}]) {
      const people = await holding(store, { name: 'me', ...absent })
      await people.update(me, { unset: ['address.city'] })
      deepEqual(await mine(people), { name: 'me', ...absent })
      equal(await people.count(where('address', 'eq', null)), 1)
      await people.update(me, { set: { 'address.city': 'Ur' } })
      deepEqual(await mine(people), { name: 'me', address: { city: 'Ur' } })
      await people.delete(me)
    }
  },
  async 'push keeps the last elements up to its cap'(store) {
    const people = await holding(store, { name: 'me', marks: [1, 2, 3] })
    await people.update(me, { push: { marks: { value: 4, cap: 3 } } })
    deepEqual((await mine(people)).marks, [2, 3, 4])
    await people.update(me, { push: { marks: { value: 5, cap: 1 } } })
    deepEqual((await mine(people)).marks, [5])
  },
  async 'expect: the write happens only while the fields hold exactly these values'(store) {
    const sessions = [{ id: 'a', n: 1 }]
    const people = await holding(store, { name: 'me', age: 1, sessions, born: new Date(1) })
    const set = { score: 1 }
    const no = [
      { age: 2 },
      { age: null },
      { age: undefined },
      { score: 0 },
      { score: null },
      { sessions: [{ id: 'a' }] },
      { sessions: [{ id: 'a', n: 1 }, { id: 'b' }] },
      { sessions: [] },
      { born: new Date(2) },
      { age: 1, born: new Date(2) },
    ]
    for (const expect of no)
      equal(await people.update(me, { set }, { expect }), null, JSON.stringify(expect))
    equal(await people.delete(me, { expect: { age: 2 } }), null)
    ok(
      await people.update(
        me,
        { set },
        { expect: { age: 1, score: undefined, sessions, born: new Date(1) } },
      ),
    )
    ok(await people.delete(me, { expect: { score: 1 } }))
  },
  async 'fifty parallel increments all count'(store) {
    const people = await holding(store, { name: 'me', age: 0 })
    await Promise.all(
      Array.from({ length: 50 }, () => people.update(me, { increment: { age: 1 } })),
    )
    equal((await mine(people)).age, 50)
  },
  async 'of twenty compare-and-sets one wins'(store) {
    const people = await holding(store, { name: 'me', age: 0 })
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        people.update(me, { set: { age: at + 1 } }, { expect: { age: 0 } }),
      ),
    )
    equal(results.filter((result) => result !== null).length, 1)
  },
  async 'a filter and its increment are one step: a limit is never passed'(store) {
    const people = await holding(store, { name: 'me', age: 0 })
    const below: Parameters<typeof people.update>[0] = {
      op: 'and',
      filters: [me, where('age', 'lt', 7)],
    }
    const results = await Promise.all(
      Array.from({ length: 30 }, () => people.update(below, { increment: { age: 1 } })),
    )
    equal(results.filter((result) => result !== null).length, 7)
    equal((await mine(people)).age, 7)
  },
  async 'parallel pushes with a cap leave the cap, parallel pulls take all'(store) {
    const people = await holding(store, { name: 'me' })
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        people.update(me, { push: { sessions: { value: { id: `s${n}`, n }, cap: 5 } } }),
      ),
    )
    const { sessions } = (await mine(people)) as { sessions: { id: string }[] }
    equal(sessions.length, 5)
    await Promise.all(
      sessions.map(({ id }) => people.update(me, { pull: { sessions: { key: 'id', value: id } } })),
    )
    deepEqual((await mine(people)).sessions, [])
  },
  async 'updateMany changes all that match and counts them'(store) {
    const people = await holding(
      store,
      { name: 'a', age: 1 },
      { name: 'b', age: 1 },
      { name: 'c', age: 2 },
    )
    equal(
      await people.updateMany(where('age', 'eq', 1), {
        set: { tags: ['x'] },
        increment: { age: 5 },
      }),
      2,
    )
    equal(await namesOf(people, where('age', 'eq', 6)), 'a b')
    equal(await namesOf(people, containing('tags', 'X')), 'a b')
    equal(await people.updateMany(where('age', 'eq', 99), { set: { score: 1 } }), 0)
  },
  async 'delete removes one record and resolves to it'(store) {
    const people = await holding(store, { name: 'a', born: new Date(4) }, { name: 'b' })
    const gone = await people.delete(where('name', 'eq', 'a'))
    deepEqual([gone?.name, gone?.born], ['a', new Date(4)])
    equal(await people.delete(where('name', 'eq', 'a')), null)
    equal(await namesOf(people, everything), 'b')
  },
  async 'a write that was answered is seen by the next read and count'(store) {
    const people = await holding(store)
    for (let at = 0; at < 20; at += 1) {
      await people.insert(person({ name: `n${at}` }))
      equal(await people.count(everything), at + 1)
      equal((await people.find(reading(everything))).length, at + 1)
    }
    equal(await people.estimate(), 20)
  },
}
