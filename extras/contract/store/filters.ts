/** The store port's promises about filters. */

import { all, any, everything, nothing } from '../../../src/ports/store/filter.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { equal } from '../assert.ts'
import type { Contract } from '../verify.ts'
import { among, containing, holding, namesOf, where } from './ask.ts'
import { newId } from './people.ts'

const ages = [
  { name: 'none' },
  { name: 'null', age: null },
  { name: 'minus', age: -1.5 },
  { name: 'ten', age: 10 },
  { name: 'big', age: 2 ** 53 },
]

/** Filters. */
export const filters: Contract<Store> = {
  async 'everything matches all, nothing matches none'(store) {
    const people = await holding(store, ...ages)
    equal(await namesOf(people, everything), 'none null minus ten big')
    equal(await namesOf(people, nothing), '')
    equal(await people.count(everything), 5)
    equal(await people.count(nothing), 0)
  },
  async 'eq and in find numbers; null finds null and missing'(store) {
    const people = await holding(store, ...ages)
    equal(await namesOf(people, where('age', 'eq', 10)), 'ten')
    equal(await namesOf(people, where('age', 'eq', 2 ** 53)), 'big')
    equal(await namesOf(people, where('age', 'eq', null)), 'none null')
    equal(await namesOf(people, among('age', 'in', 10, -1.5)), 'minus ten')
    equal(await namesOf(people, among('age', 'in', 10, null)), 'none null ten')
    equal(await namesOf(people, among('age', 'in')), '')
  },
  async 'ne and nin are the exact negation and keep null and missing'(store) {
    const people = await holding(store, ...ages)
    equal(await namesOf(people, where('age', 'ne', 10)), 'none null minus big')
    equal(await namesOf(people, where('age', 'ne', null)), 'minus ten big')
    equal(await namesOf(people, among('age', 'nin', 10, -1.5)), 'none null big')
    equal(await namesOf(people, among('age', 'nin', 10, null)), 'minus big')
    equal(await namesOf(people, among('age', 'nin')), 'none null minus ten big')
  },
  async 'gt, gte, lt and lte never match null or missing'(store) {
    const people = await holding(store, ...ages)
    equal(await namesOf(people, where('age', 'gt', -1.5)), 'ten big')
    equal(await namesOf(people, where('age', 'gte', -1.5)), 'minus ten big')
    equal(await namesOf(people, where('age', 'lt', 10)), 'minus')
    equal(await namesOf(people, where('age', 'lte', 10)), 'minus ten')
    equal(await namesOf(people, where('age', 'lt', null)), '')
    equal(await namesOf(people, where('age', 'gte', null)), '')
  },
  async 'strings compare by code point, not by locale or UTF-16 unit'(store) {
    const texts = ['', 'Z', 'a', 'z', 'é', '\uffff', '😀']
    const people = await holding(store, ...texts.map((name) => ({ name })))
    equal(await namesOf(people, where('name', 'gt', 'z')), 'é \uffff 😀')
    equal(await namesOf(people, where('name', 'lt', '😀')), ' Z a z é \uffff')
    equal(await namesOf(people, where('name', 'eq', '')), '')
    equal(await people.count(where('name', 'eq', '')), 1)
  },
  async 'booleans are found by value, false before true'(store) {
    const people = await holding(
      store,
      { name: 'yes', member: true },
      { name: 'no', member: false },
      { name: 'none' },
    )
    equal(await namesOf(people, where('member', 'eq', true)), 'yes')
    equal(await namesOf(people, where('member', 'ne', true)), 'no none')
    equal(await namesOf(people, where('member', 'gt', false)), 'yes')
    equal(await namesOf(people, among('member', 'in', true, false)), 'yes no')
  },
  async 'dates compare by instant'(store) {
    const day = (iso: string) => new Date(iso)
    const people = await holding(
      store,
      { name: 'old', born: day('0999-12-31T23:59:59.999Z') },
      { name: 'before', born: day('1969-12-31T23:59:59.999Z') },
      { name: 'epoch', born: day('1970-01-01T00:00:00.000Z') },
      { name: 'late', born: day('9999-12-31T23:59:59.999Z') },
    )
    const epoch = day('1970-01-01T00:00:00Z')
    equal(await namesOf(people, where('born', 'eq', epoch)), 'epoch')
    equal(await namesOf(people, where('born', 'lt', epoch)), 'old before')
    equal(await namesOf(people, where('born', 'gte', epoch)), 'epoch late')
    equal(
      await namesOf(people, among('born', 'in', epoch, day('0999-12-31T23:59:59.999Z'))),
      'old epoch',
    )
  },
  async 'ids are found as strings, alone and in lists'(store) {
    const [a, b] = [newId(), newId()]
    const people = await holding(
      store,
      { name: 'one', friend: a, friends: [a, b] },
      { name: 'two', friend: b, friends: [b] },
      { name: 'nobody', friend: null, friends: [] },
    )
    equal(await namesOf(people, where('friend', 'eq', a)), 'one')
    equal(await namesOf(people, where('friend', 'eq', null)), 'nobody')
    equal(await namesOf(people, where('friends', 'eq', b)), 'one two')
    equal(await namesOf(people, among('friends', 'nin', a)), 'two nobody')
    const [first] = await people.find({ filter: where('name', 'eq', 'two'), sort: [], limit: 1 })
    equal(await namesOf(people, where('_id', 'eq', String(first?._id))), 'two')
    equal(await namesOf(people, among('_id', 'in', String(first?._id), newId())), 'two')
  },
  async 'on a list a condition matches when one element matches'(store) {
    const people = await holding(
      store,
      { name: 'both', tags: ['red', 'blue'], marks: [1, 9] },
      { name: 'red', tags: ['red'], marks: [5] },
      { name: 'empty', tags: [], marks: [] },
      { name: 'none' },
    )
    equal(await namesOf(people, where('tags', 'eq', 'red')), 'both red')
    equal(await namesOf(people, among('tags', 'in', 'blue', 'x')), 'both')
    equal(await namesOf(people, where('tags', 'ne', 'blue')), 'red empty none')
    equal(await namesOf(people, among('tags', 'nin', 'red', 'x')), 'empty none')
    equal(await namesOf(people, where('tags', 'eq', null)), 'none')
    equal(await namesOf(people, where('marks', 'gt', 5)), 'both')
    equal(await namesOf(people, all([where('marks', 'gt', 5), where('marks', 'lt', 5)])), 'both')
  },
  async 'dates in lists compare by instant'(store) {
    const day = (iso: string) => new Date(iso)
    const people = await holding(
      store,
      { name: 'early', visits: [day('2020-01-01'), day('2021-01-01')] },
      { name: 'late', visits: [day('2024-01-01')] },
    )
    equal(await namesOf(people, where('visits', 'lt', day('2020-06-01'))), 'early')
    equal(await namesOf(people, where('visits', 'eq', day('2024-01-01'))), 'late')
  },
  async 'a path leads into objects, and through lists of objects'(store) {
    const people = await holding(
      store,
      {
        name: 'paris',
        address: { city: 'Paris' },
        homes: [{ city: 'Nice', rooms: 1 }, { city: 'Lyon' }],
      },
      { name: 'null', address: { city: null }, homes: [{ city: null }] },
      { name: 'bare', address: {}, homes: [] },
      { name: 'none' },
    )
    equal(await namesOf(people, where('address.city', 'eq', 'Paris')), 'paris')
    equal(await namesOf(people, where('address.city', 'ne', 'Paris')), 'null bare none')
    equal(await namesOf(people, where('address.city', 'eq', null)), 'null bare none')
    equal(await namesOf(people, where('homes.city', 'eq', 'Lyon')), 'paris')
    equal(await namesOf(people, where('homes.city', 'ne', 'Lyon')), 'null bare none')
    equal(await namesOf(people, where('homes.rooms', 'gte', 1)), 'paris')
    equal(await namesOf(people, where('address.since', 'lt', new Date())), '')
  },
  async 'an element that is null has nothing at a path through it'(store) {
    const people = await holding(
      store,
      { name: 'null', homes: [null] },
      { name: 'both', homes: [{ city: 'Nice' }, null] },
      { name: 'one', homes: [{ city: 'Nice' }] },
      { name: 'none' },
    )
    const withNull = await namesOf(people, where('homes.city', 'eq', null))
    equal(withNull, 'null both none')
    equal(await namesOf(people, where('homes.city', 'ne', null)), 'one')
  },
  async 'on a mixed field a value compares with values of its own type alone'(store) {
    const people = await holding(
      store,
      { name: 'number', any: 1 },
      { name: 'text', any: '1' },
      { name: 'true', any: true },
      { name: 'null', any: null },
      { name: 'object', any: { a: 1 } },
    )
    equal(await namesOf(people, where('any', 'eq', 1)), 'number')
    equal(await namesOf(people, where('any', 'eq', '1')), 'text')
    equal(await namesOf(people, where('any', 'eq', true)), 'true')
    equal(await namesOf(people, where('any', 'gte', 0)), 'number')
    equal(await namesOf(people, where('any', 'gte', '')), 'text')
    equal(await namesOf(people, among('any', 'in', 1, '1')), 'number text')
    equal(await namesOf(people, where('any', 'ne', 1)), 'text true null object')
  },
  async 'a list that is not there has nothing at a mixed place in its elements'(store) {
    const people = await holding(
      store,
      { name: 'none' },
      { name: 'null', homes: null },
      { name: 'empty', homes: [] },
      { name: 'bare', homes: [{}] },
      { name: 'list', homes: [{ extra: [null] }] },
      { name: 'one', homes: [{ extra: 1 }] },
    )
    equal(await namesOf(people, where('homes.extra', 'eq', null)), 'none null bare')
    equal(await namesOf(people, where('homes.extra', 'ne', null)), 'empty list one')
    equal(await namesOf(people, among('homes.extra', 'in', 1, null)), 'none null bare one')
  },
  async 'conditions nest: and, or'(store) {
    const people = await holding(store, ...ages)
    const filter = any([
      all([where('age', 'gt', 0), where('age', 'lt', 11)]),
      where('name', 'eq', 'null'),
    ])
    equal(await namesOf(people, filter), 'null ten')
  },
  async 'two hundred conditions, each with a value of its own'(store) {
    const people = await holding(store, ...ages)
    const each = Array.from({ length: 200 }, (_, at) => where('age', 'eq', at))
    equal(await namesOf(people, any(each)), 'ten')
    const texts = Array.from({ length: 200 }, (_, at) => where('name', 'ne', `${at}"'`))
    equal(await namesOf(people, all([...texts, where('age', 'eq', 10)])), 'ten')
  },
  async 'a hundred values beside other conditions, and a thousand ids'(store) {
    const people = await holding(store, ...ages)
    const numbers = Array.from({ length: 100 }, (_, at) => at)
    const found = await people.find({ filter: everything, sort: [], limit: 10 })
    const ids = [
      ...Array.from({ length: 1000 }, newId),
      ...found.map((record) => String(record._id)),
    ]
    const filter = all([
      among('age', 'in', ...numbers),
      among('_id', 'in', ...ids),
      where('name', 'ne', 'x'),
      where('age', 'gte', 0),
      containing('name', 't'.repeat(1)),
    ])
    equal(await namesOf(people, filter), 'ten')
  },
}
