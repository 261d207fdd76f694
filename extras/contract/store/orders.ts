/** The store port's promises about order, pages and projections. */

import { everything } from '../../../src/ports/store/filter.ts'
import type { Projection } from '../../../src/ports/store/records.ts'
import type { Shape } from '../../../src/ports/store/shape.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { holding, keys, namesOf, reading, rows, where } from './ask.ts'

/** Orders, pages and projections. */
export const orders: Contract<Store> = {
  async 'null and missing come first ascending and last descending, as equals'(store) {
    const people = await holding(store, ...rows)
    equal(await namesOf(people, everything, { sort: keys('age', '_id') }), 'b c d a e f')
    equal(await namesOf(people, everything, { sort: keys('-age', '_id') }), 'f a e d b c')
    equal(await namesOf(people, everything, { sort: keys('-age', '-_id') }), 'f e a d c b')
  },
  async 'several keys in mixed directions'(store) {
    const people = await holding(store, ...rows)
    equal(await namesOf(people, everything, { sort: keys('-score', 'age', '_id') }), 'c d f b a e')
    equal(await namesOf(people, everything, { sort: keys('score', '-age', '-_id') }), 'e a b f d c')
  },
  async 'text orders by code point, booleans false first, dates by instant, paths into objects'(
    store,
  ) {
    const people = await holding(
      store,
      { name: '😀', member: true, born: new Date(5), address: { city: 'b' } },
      { name: 'a', member: false, born: new Date(-5), address: { city: 'a' } },
      { name: '\uffff', member: true, born: new Date(0) },
      { name: 'B', born: new Date(1), address: {} },
    )
    equal(await namesOf(people, everything, { sort: keys('name', '_id') }), 'B a \uffff 😀')
    equal(await namesOf(people, everything, { sort: keys('member', '_id') }), 'B a 😀 \uffff')
    equal(await namesOf(people, everything, { sort: keys('-born', '_id') }), '😀 B \uffff a')
    equal(await namesOf(people, everything, { sort: keys('address.city', '_id') }), '\uffff B a 😀')
  },
  async 'skip and limit cut the order; a limit of any size is taken'(store) {
    const people = await holding(store, ...rows)
    equal(await namesOf(people, everything, { skip: 1, limit: 2 }), 'b c')
    equal(await namesOf(people, everything, { skip: 9, limit: 2 }), '')
    equal(await namesOf(people, everything, { limit: Number.MAX_SAFE_INTEGER }), 'a b c d e f')
  },
  async 'include leaves the named fields and _id, dotted ones too'(store) {
    const people = await holding(store, {
      name: 'x',
      age: 1,
      address: { city: 'Ur', since: new Date(7) },
      homes: [{ city: 'a', rooms: 1 }],
    })
    const [one] = await people.find(
      reading(everything, { select: { include: ['age', 'address.since', 'homes.city'] } }),
    )
    const { _id, ...shown } = one ?? {}
    ok(_id)
    deepEqual(shown, { age: 1, address: { since: new Date(7) }, homes: [{ city: 'a' }] })
    const [bare] = await people.find(reading(everything, { select: { include: ['_id'] } }))
    deepEqual(Object.keys(bare ?? {}), ['_id'])
  },
  async 'exclude leaves out the named fields, dotted ones too'(store) {
    const people = await holding(store, {
      name: 'x',
      age: 1,
      address: { city: 'Ur', since: new Date(7) },
      homes: [{ city: 'a', rooms: 1 }],
    })
    const exclude = ['age', 'address.city', 'homes.rooms', 'email']
    const [one] = await people.find(reading(everything, { select: { exclude } }))
    const { _id, ...shown } = one ?? {}
    deepEqual(shown, { name: 'x', address: { since: new Date(7) }, homes: [{ city: 'a' }] })
  },
  async 'a path into what is no object leaves it as it is, in lists too'(store) {
    const record = {
      name: 'x',
      address: null,
      homes: [null, { city: 'a', rooms: 1 }, 5],
      any: [1, { b: 2, c: 3 }, [{ b: 4, c: 5 }], { $b: 6, 'd.e': 7 }],
      by: { '': 1, 'x.y': 2 },
    }
    const people = await holding(store, record)
    const shown = async (select: Projection) => {
      const [one] = await people.find(reading(everything, { select }))
      const [text] = (await people.findJson?.(reading(everything, { select }))) ?? []
      if (text !== undefined) equal(text, JSON.stringify(one))
      const { _id, ...fields } = one ?? {}
      return fields
    }
    deepEqual(await shown({ include: ['address.city', 'homes.city', 'name.x'] }), {
      name: 'x',
      address: null,
      homes: [null, { city: 'a' }, 5],
    })
    deepEqual(await shown({ include: ['any.b', 'by.none', 'none.a'] }), {
      any: [1, { b: 2 }, [{ b: 4 }], {}],
      by: {},
    })
    deepEqual(
      await shown({ exclude: ['address.city', 'homes.city', 'any.b', 'name.x', 'by.', '_id'] }),
      {
        ...record,
        homes: [null, { rooms: 1 }, 5],
        any: [1, { c: 3 }, [{ c: 5 }], { $b: 6, 'd.e': 7 }],
        by: { 'x.y': 2 },
      },
    )
  },
  async 'what a select leaves stands in its stored order, _id first, also where an index could give it'(
    store,
  ) {
    const people = await holding(store, { name: 'x', age: 2, score: 1, member: true })
    for (const [select, sort, filter] of [
      [['score'], ['-score', '_id'], where('score', 'eq', 1)],
      [['age', 'member'], ['member', '-age', '_id'], where('member', 'eq', true)],
    ] as const) {
      const read = reading(filter, { sort: keys(...sort), select: { include: select } })
      const [one] = await people.find(read)
      const expected = [
        '_id',
        ...['age', 'score', 'member'].filter((name) => select.includes(name as never)),
      ]
      deepEqual(Object.keys(one ?? {}), expected)
      const [text = ''] = (await people.findJson?.(read)) ?? [JSON.stringify(one)]
      deepEqual(Object.keys(JSON.parse(text)), expected)
      ok(text.startsWith('{"_id":"'), text)
    }
  },
  async 'names that are whole numbers come after _id in JSON texts, and stand alike after an update'(
    store,
  ) {
    const text = { kind: 'string' } as const
    const fields = new Map<string, Shape>([
      ['_id', text],
      ['b', text],
      ['7', text],
    ])
    const shape = { kind: 'object', fields } as const
    const schema = {
      name: 'numbered',
      idType: 'uuid',
      shape,
      unique: [],
      indexes: [],
      searchable: [],
    } as const
    await store.prepare([schema])
    const numbered = store.collection(schema)
    if (!numbered.findJson) return
    await numbered.insert({ _id: 'x', b: 'b' })
    await numbered.update(where('_id', 'eq', 'x'), { set: { '7': 'seven' } })
    for (const select of [{}, { select: { include: ['7', 'b'] } }]) {
      deepEqual(await numbered.findJson(reading(everything, select)), [
        '{"_id":"x","7":"seven","b":"b"}',
      ])
    }
  },
  async 'JSON texts are the same records, _id first, dates as ISO 8601 with milliseconds'(store) {
    const people = await holding(store, {
      name: 'é"\\',
      born: new Date(0),
      tags: [],
      address: { city: null },
    })
    if (!people.findJson) return
    const [text = ''] = await people.findJson(reading(everything))
    const [record] = await people.find(reading(everything))
    equal(text, JSON.stringify(record))
    ok(text.startsWith('{"_id":"'))
    ok(text.includes('"born":"1970-01-01T00:00:00.000Z"'))
    const [shown = ''] = await people.findJson(
      reading(everything, { select: { exclude: ['name'] } }),
    )
    equal(shown, JSON.stringify({ ...record, name: undefined }))
  },
}
