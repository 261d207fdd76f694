/** The store port's promises about reads that go on after a position or a record. */

import { all, everything, type Scalar, withId } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'
import type { Collection, Store } from '../../../src/ports/store/store.ts'
import { AnchorGone } from '../../../src/ports/store/store-errors.ts'
import { deepEqual, equal, rejects } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { holding, keys, namesOf, reading, rows, where } from './ask.ts'

const ORDERS = [
  ['_id'],
  ['-_id'],
  ['age', '_id'],
  ['-age', '_id'],
  ['-age', '-_id'],
  ['score', '-age', '_id'],
  ['-score', 'age', '-_id'],
  ['member', '-age', '_id'],
  ['address.city', '_id'],
]

const PARTS = [
  [0, 1],
  [0, 2],
  [1, 2],
  [0, 9],
] as const

async function walk(people: Collection, sort: readonly string[], size: number): Promise<string> {
  const order = keys(...sort)
  const seen: string[] = []
  let after: Scalar[] | undefined
  for (let page = 0; page < 50; page += 1) {
    const found: Fields[] = await people.find(
      reading(everything, { sort: order, limit: size, ...(after && { after }) }),
    )
    seen.push(...found.map((record) => String(record.name)))
    const last = found.at(-1)
    if (!last || found.length < size) return seen.join(' ')
    after = order.map((key) => valueAt(last, key.field))
  }
  throw new Error('the walk does not end')
}

function valueAt(record: Fields, path: string): Scalar {
  let value: unknown = record
  for (const key of path.split('.')) value = (value as Fields | undefined)?.[key]
  return (value ?? null) as Scalar
}

function nameIn(text: string): unknown {
  return JSON.parse(text).name
}

/** Where reads go on. */
export const positions: Contract<Store> = {
  async 'a walk by position visits every record once, in order, whatever the nulls and ties'(
    store,
  ) {
    const people = await holding(store, ...rows)
    for (const sort of ORDERS) {
      const whole = await namesOf(people, everything, { sort: keys(...sort) })
      for (const size of [1, 2, 3, 7])
        equal(await walk(people, sort, size), whole, `${sort} by ${size}`)
    }
  },
  async 'a position may lie where no record is'(store) {
    const people = await holding(store, ...rows)
    const sort = keys('age', '_id')
    const id = 'f'.repeat(24)
    equal(await namesOf(people, everything, { sort, after: [2, id] }), 'f')
    equal(await namesOf(people, everything, { sort, after: [null, id] }), 'd a e f')
    equal(await namesOf(people, everything, { sort, after: [100, id] }), '')
    equal(
      await namesOf(people, where('score', 'eq', 2), { sort, after: [null, '0'.repeat(24)] }),
      'c d f',
    )
  },
  async 'a read starts after a record, at its current position, whatever the nulls and ties'(
    store,
  ) {
    const people = await holding(store, ...rows)
    if (!people.seeksRecords) return
    for (const sort of ORDERS) {
      const whole = await people.find(reading(everything, { sort: keys(...sort) }))
      for (const [at, { name }] of whole.entries()) {
        const read = { sort: keys(...sort), afterRecord: where('name', 'eq', String(name)) }
        const rest = whole.slice(at + 1)
        const names = rest.map((one) => one.name).join(' ')
        equal(await namesOf(people, everything, read), names, `${sort} after ${name}`)
        const texts = await people.findJson?.(reading(everything, { ...read, skip: 1, limit: 2 }))
        if (texts)
          deepEqual(
            texts.map(nameIn),
            rest.slice(1, 3).map((one) => one.name),
          )
      }
    }
    const read = { sort: keys('-age', '_id'), afterRecord: where('name', 'eq', 'f') }
    equal(await namesOf(people, where('score', 'eq', 1), read), 'a e b')
    await people.update(where('name', 'eq', 'f'), { set: { age: 1 } })
    equal(await namesOf(people, everything, read), 'd b c')
  },
  async 'a read starts after a record in the order of an index, whether one record, several or none have its values'(
    store,
  ) {
    const scores = [4, 4, 5, 3, null, undefined, 1, 0.5, 1]
    const people = await holding(
      store,
      ...scores.map((score, at) => ({
        name: 'abcdefghi'[at],
        score,
        age: score,
        member: at % 4 > 0,
      })),
    )
    if (!people.seeksRecords) return
    const members = where('member', 'eq', true)
    for (const filter of [everything, members])
      for (const sort of ['-score', 'score', '-age', 'age'].map((key) => keys(key, '_id'))) {
        const whole = await people.find(reading(everything, { sort }))
        for (const [at, { _id, name }] of whole.entries())
          for (const [skip, limit] of PARTS) {
            const afterRecord = withId(String(_id))
            const rest = whole.slice(at + 1).filter((one) => filter === everything || one.member)
            const names = rest.slice(skip, skip + limit).map((one) => one.name)
            const found = await namesOf(people, filter, { sort, afterRecord, skip, limit })
            equal(found, names.join(' '), `${sort[0]?.field} after ${name}, ${skip} and ${limit}`)
          }
      }
  },
  async 'a read after a record that does not exist rejects with AnchorGone'(store) {
    const people = await holding(store, ...rows)
    if (!people.seeksRecords) return
    for (const sort of ORDERS) {
      const read = reading(everything, {
        sort: keys(...sort),
        afterRecord: all([where('name', 'eq', 'a'), where('score', 'eq', 2)]),
      })
      await rejects(people.find(read), AnchorGone)
      await rejects((async () => people.findJson?.(read) ?? people.find(read))(), AnchorGone)
    }
    const last = reading(everything, { afterRecord: where('name', 'eq', 'f') })
    deepEqual(await people.find(last), [])
    await people.delete(where('name', 'eq', 'f'))
    await rejects(people.find(last), AnchorGone)
  },
}
