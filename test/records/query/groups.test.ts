/**
 * Aggregates: groups of records instead of the records, by a QUERY.
 */

import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields, type Store } from '../../../src/index.ts'
import { expectRefused, type ItemOptions, open, type Shop } from '../lists/shop.ts'
import { type Answer, service } from '../service.ts'

const OPTIONS: ItemOptions = {
  query: ['name', 'size', 'done'],
  search: ['name', 'maker.name'],
  aggregates: {
    by: ['name', 'done', 'maker', 'at', 'at:year', 'at:month', 'at:day', 'place.city'],
    of: ['size', 'at', 'place.row'],
  },
}

const day = (text: string) => new Date(`${text}T12:00:00.000Z`)
const ITEMS = [
  { name: 'ant', size: 1, done: true, at: day('2025-12-31'), place: { city: 'Ur', row: 1 } },
  { name: 'ant', size: 2, done: false, at: day('2026-01-01') },
  { name: 'bee', size: 0.1, at: day('2026-01-02'), place: { city: 'Ur', row: 4 } },
  { name: 'bee', size: 0.2, done: true, at: day('2026-11-30') },
  { name: 'cat', size: null },
] as const

const shop = () => open(OPTIONS, ITEMS)

/** The groups of an answer. */
function groups({ status, body, records }: Answer): Fields[] {
  expect([status, body.error]).toEqual([200, undefined])
  return records
}

describe('beyond, section 4: aggregates', () => {
  test('count, sum, average, least and greatest of each group, in the order of the groups', async () => {
    const answer = await (await shop()).ask({
      aggregate: { count: true, sum: ['size'], avg: ['size'], min: ['size', 'at'], max: ['size'] },
      by: ['name'],
    })
    expect(answer.text).toBe(
      '{"success":true,"data":[' +
        '{"name":"ant","count":2,"sum":{"size":3},"avg":{"size":1.5},"min":{"size":1,"at":"2025-12-31T12:00:00.000Z"},"max":{"size":2}},' +
        '{"name":"bee","count":2,"sum":{"size":0.3},"avg":{"size":0.15},"min":{"size":0.1,"at":"2026-01-02T12:00:00.000Z"},"max":{"size":0.2}},' +
        '{"name":"cat","count":1,"sum":{"size":0},"avg":{"size":null},"min":{"size":null,"at":null},"max":{"size":null}}' +
        '],"pagination":{"hasMore":false}}',
    )
  })

  test('without groups there is one row, over no records too', async () => {
    const { ask } = await shop()
    const aggregate = { count: true, sum: ['size'], max: ['at'] }
    expect((await ask({ aggregate })).body).toEqual({
      success: true,
      data: [{ count: 5, sum: { size: 3.3 }, max: { at: '2026-11-30T12:00:00.000Z' } }],
      pagination: { hasMore: false },
    })
    expect(groups(await ask({ aggregate, filter: { name: 'nope' } }))).toEqual([
      { count: 0, sum: { size: 0 }, max: { at: null } },
    ])
    expect(groups(await ask({ aggregate, by: [], limit: 1 }))).toHaveLength(1)
  })

  test('dates by day, month and year in UTC, whole ones as lists show them, and nested fields', async () => {
    const { ask } = await shop()
    const by = async (...names: string[]) =>
      groups(await ask({ aggregate: { count: true }, by: names }))
    expect(await by('at:month')).toEqual([
      { 'at:month': null, count: 1 },
      { 'at:month': '2025-12', count: 1 },
      { 'at:month': '2026-01', count: 2 },
      { 'at:month': '2026-11', count: 1 },
    ])
    expect(await by('at:year', 'place.city')).toEqual([
      { 'at:year': null, 'place.city': null, count: 1 },
      { 'at:year': '2025', 'place.city': 'Ur', count: 1 },
      { 'at:year': '2026', 'place.city': null, count: 2 },
      { 'at:year': '2026', 'place.city': 'Ur', count: 1 },
    ])
    expect((await by('at:day'))[1]).toEqual({ 'at:day': '2025-12-31', count: 1 })
    expect((await by('at'))[1]).toEqual({ at: '2025-12-31T12:00:00.000Z', count: 1 })
    expect(await by('done', 'done')).toEqual([
      { done: null, count: 2 },
      { done: false, count: 1 },
      { done: true, count: 2 },
    ])
  })

  test('sorted by what was asked for, ties by the groups; cut at the limit', async () => {
    const { ask } = await shop()
    const aggregate = { count: true, sum: ['size'] }
    const sorted = async (sort: unknown, limit?: number) => {
      const answer = await ask({ aggregate, by: ['name'], sort, limit })
      return [
        groups(answer)
          .map(({ name }) => name)
          .join(' '),
        answer.body.pagination,
      ]
    }
    expect(await sorted(['-count'])).toEqual(['ant bee cat', { hasMore: false }])
    expect(await sorted('-name')).toEqual(['cat bee ant', { hasMore: false }])
    expect(await sorted(['count', '-name'], 2)).toEqual(['cat bee', { hasMore: true }])
    expect(await sorted('-sum.size', 3)).toEqual(['ant bee cat', { hasMore: false }])
    expect(await sorted('')).toEqual(['ant bee cat', { hasMore: false }])
    expect(await sorted(null, 1000)).toEqual(['ant bee cat', { hasMore: false }])
    const few = await open({ ...OPTIONS, maxLimit: 2 }, ITEMS)
    const cut = await few.ask({ aggregate, by: ['name'], limit: 50 })
    expect([cut.records.length, cut.body.pagination]).toEqual([2, { hasMore: true }])
  })

  test('filters, searches and searches through references as in lists', async () => {
    const { ask, make, insert } = await shop()
    const maker = await make({ name: 'beekeeper' })
    await insert({ name: 'honey', size: 7, maker: String(maker._id) })
    const counted = async (more: Fields) =>
      groups(await ask({ aggregate: { count: true, sum: ['size'] }, ...more }))[0]
    expect(await counted({ filter: { size: { gte: 1 }, done: true } })).toEqual({
      count: 1,
      sum: { size: 1 },
    })
    const or = [{ name: 'ant' }, { size: { lt: 1 } }]
    expect(await counted({ filter: { or, done: true } })).toEqual({ count: 2, sum: { size: 1.2 } })
    expect(await counted({ search: 'BEE' })).toEqual({ count: 3, sum: { size: 7.3 } })
    expect(await counted({ search: '' })).toEqual({ count: 6, sum: { size: 10.3 } })
  })

  test('counting alone needs no option', async () => {
    const { ask } = await open({ query: ['name'], pagination: 'cursor' }, ITEMS)
    const answer = await ask({ aggregate: { count: true }, filter: { name: 'bee' }, limit: 5 })
    expect(groups(answer)).toEqual([{ count: 2 }])
  })

  test.each<[body: Fields, error: string]>([
    [{ aggregate: { sum: ['note'] } }, "Field 'note' cannot be aggregated."],
    [{ aggregate: { sum: ['secret'] } }, "Field 'secret' cannot be aggregated."],
    [{ aggregate: { max: ['nope'] } }, "Field 'nope' cannot be aggregated."],
    [{ aggregate: { count: true }, by: ['note'] }, "Field 'note' cannot be grouped by."],
    [{ aggregate: { count: true }, by: ['vault.pin'] }, "Field 'vault.pin' cannot be grouped by."],
    [{ aggregate: { count: true }, by: ['at:week'] }, "Field 'at:week' cannot be grouped by."],
    [{ aggregate: { count: true }, by: ['__proto__'] }, "Field '__proto__' cannot be grouped by."],
    [{ aggregate: { avg: ['at'] } }, "Field 'at' is a date, which has only 'min' and 'max'."],
    [{ aggregate: [] }, "'aggregate' must be a JSON object."],
    [{ aggregate: true }, "'aggregate' must be a JSON object."],
    [{ aggregate: {} }, "'aggregate' must ask for 'count', 'sum', 'avg', 'min' or 'max'."],
    [
      { aggregate: { count: false, sum: [] } },
      "'aggregate' must ask for 'count', 'sum', 'avg', 'min' or 'max'.",
    ],
    [
      { aggregate: { total: ['size'] } },
      "Unknown key 'total' in 'aggregate'. Allowed: count, sum, avg, min, max.",
    ],
    [{ aggregate: { count: 1 } }, "'aggregate.count' must be true or false."],
    [{ aggregate: { sum: 'size' } }, "'aggregate.sum' must be a list of field names."],
    [{ aggregate: { sum: [1] } }, "'aggregate.sum' must be a list of field names."],
    [{ aggregate: { count: true }, by: 'name' }, "'by' must be a list of at most 3 fields."],
    [
      { aggregate: { count: true }, by: ['name', 'done', 'at', 'maker'] },
      "'by' must be a list of at most 3 fields.",
    ],
    [{ by: ['name'] }, "'by' needs 'aggregate'."],
    [{ aggregate: { count: true }, sort: 'name' }, "Field 'name' is not sortable."],
    [
      { aggregate: { count: true }, by: ['name'], sort: ['sum.size'] },
      "Field 'sum.size' is not sortable.",
    ],
    [
      { aggregate: { count: true }, sort: { count: 1 } },
      "'sort' must be a field name, or a list of them.",
    ],
    [
      { aggregate: { count: true }, by: ['name'], sort: ['a', 'b', 'c', 'd', 'e', 'f'] },
      "'sort' accepts at most 5 fields.",
    ],
    [{ aggregate: { count: true }, page: 1 }, "Use either 'aggregate' or 'page', not both."],
    [
      { aggregate: { count: true }, pageSize: 1 },
      "Use either 'aggregate' or 'pageSize', not both.",
    ],
    [{ aggregate: { count: true }, cursor: 'x' }, "Use either 'aggregate' or 'cursor', not both."],
    [{ aggregate: { count: true }, limit: 0 }, "'limit' must be a positive integer."],
    [{ aggregate: { count: true }, filter: { note: 1 } }, "Field 'note' is not filterable."],
    [{ aggregate: { count: true }, filter: '' }, "'filter' must be a JSON object."],
    [
      { aggregate: { count: true }, select: ['name'] },
      "Use either 'aggregate' or 'select', not both.",
    ],
    [
      { aggregate: { count: true }, expand: ['maker'] },
      "Use either 'aggregate' or 'expand', not both.",
    ],
    [{ aggregate: { count: true }, filter: [] }, "'filter' must be a JSON object."],
    [{ aggregate: { count: true }, search: 1 }, 'Search term must be a string.'],
  ])('%j is refused, and the store is not asked', async (body, error) => {
    const opened = await shop()
    expectRefused(opened, await opened.ask(body), error)
  })

  test('an unknown key is refused with the keys that there are', async () => {
    const opened: Shop = await shop()
    const { body, status } = await opened.ask({ aggregate: { count: true }, group: ['name'] })
    expect([status, body.error]).toEqual([
      400,
      expect.stringContaining("Unknown key 'group' in QUERY body."),
    ])
  })

  test('it is answered where QUERY is served', async () => {
    const { ask } = await open({ ...OPTIONS, access: { query: false } }, ITEMS)
    expect((await ask({ aggregate: { count: true } })).status).toBe(405)
  })
})

describe('what limits lists limits aggregates', () => {
  const Deal = defineModel('GroupsDeal', {
    fields: { owner: z.string(), team: z.string(), pay: z.number(), open: z.boolean() },
  })
  const DEALS = [
    { owner: 'ann', team: 'a', pay: 1, open: true },
    { owner: 'ann', team: 'b', pay: 2, open: true },
    { owner: 'bob', team: 'a', pay: 4, open: false },
  ]

  /** Deals behind a router with a scope, readers who see no pay, and a cache. */
  async function deals(store?: Store) {
    const served = service({ cache: memoryCache(), ...(store && { store }) })
    const { app, send } = served
    for (const one of DEALS) await app.store.collection(Deal).insert(one)
    app.mount(
      '/deals',
      createRouter({
        model: Deal,
        middlewares: [],
        query: ['team', 'pay'],
        aggregates: { by: ['team', 'owner', 'pay'], of: ['pay'] },
        cache: { vary: () => 'everyone' },
        scope: ({ headers }) => {
          const owner = headers.get('x-user')
          return owner === null ? undefined : { owner }
        },
        fieldsFor: ({ headers }) => (headers.has('x-blind') ? ['team', 'open'] : undefined),
      }),
    )
    const ask = (json: Fields, headers: Record<string, string> = {}) =>
      send('QUERY', '/deals', { json, headers })
    return { ...served, ask }
  }

  test('security: groups have the records within the scope alone', async () => {
    const { ask } = await deals()
    const body = { aggregate: { count: true, sum: ['pay'] }, by: ['team'] }
    for (const _ of [1, 2]) {
      expect(groups(await ask(body, { 'x-user': 'bob' }))).toEqual([
        { team: 'a', count: 1, sum: { pay: 4 } },
      ])
      expect(groups(await ask(body, { 'x-user': 'eve' }))).toEqual([])
      expect(groups(await ask(body))).toHaveLength(2)
    }
  })

  test('security: a field that the reader may not see can be neither grouped by nor computed with', async () => {
    const { ask } = await deals()
    const blind = { 'x-blind': '1' }
    const count = { aggregate: { count: true } }
    const errors = [
      { ...count, by: ['pay'] },
      { ...count, by: ['nope'] },
      { aggregate: { sum: ['pay'] } },
      { aggregate: { count: true, max: ['pay'] }, by: ['team'] },
      { ...count, by: ['team'], sort: 'max.pay' },
      { ...count, filter: { pay: 1 } },
    ].map(async (body) => (await ask(body, blind)).body.error)
    expect(await Promise.all(errors)).toEqual([
      "Field 'pay' cannot be grouped by.",
      "Field 'nope' cannot be grouped by.",
      "Field 'pay' cannot be aggregated.",
      "Field 'pay' cannot be aggregated.",
      "Field 'max.pay' is not sortable.",
      "Field 'pay' is not filterable.",
    ])
    expect(groups(await ask({ ...count, by: ['team'] }, blind))).toHaveLength(2)
  })

  test('responses are kept, and forgotten after a write', async () => {
    const { app, ask } = await deals()
    const body = { aggregate: { sum: ['pay'] } }
    const other = { aggregate: { avg: ['pay'] } }
    const first = await ask(body)
    const again = await ask(body)
    expect([again.headers.get('x-cache'), again.text]).toEqual(['HIT', first.text])
    expect((await ask(body, { 'if-none-match': String(first.headers.get('etag')) })).status).toBe(
      304,
    )
    expect((await ask(other)).headers.get('x-cache')).toBe('MISS')
    await app.store.collection(Deal).insert({ owner: 'ann', team: 'a', pay: 3, open: true })
    const fresh = await ask(body)
    expect([fresh.headers.get('x-cache'), fresh.records]).toEqual(['MISS', [{ sum: { pay: 10 } }]])
  })

  test('groups that are too large for a response are a 413', async () => {
    const opened = await open({ ...OPTIONS, maxResponseBytes: 200 }, ITEMS)
    const answer = await opened.ask({
      aggregate: { count: true, sum: ['size'] },
      by: ['name', 'at'],
    })
    expect(answer.status).toBe(413)
  })

  test('a store without aggregates gives the same answers', async () => {
    const store = sqliteStore()
    const collection: Store['collection'] = (schema) => {
      const { aggregate: _, ...rest } = store.collection(schema)
      return rest
    }
    const [plain, own] = [await deals({ ...store, collection }), await deals(sqliteStore())]
    for (const body of [
      { aggregate: { count: true, avg: ['pay'] }, by: ['team', 'owner'], sort: '-avg.pay' },
      { aggregate: { sum: ['pay'], min: ['pay'] }, filter: { team: 'a' } },
      { aggregate: { count: true }, filter: { team: 'none' } },
    ]) {
      expect((await plain.ask(body)).text).toBe((await own.ask(body)).text)
    }
  })

  test('records under earlier names of their fields are in the same groups', async () => {
    const store = sqliteStore()
    const before = service({ store })
    const Old = defineModel('GroupsOld', {
      fields: { squad: z.string(), pay: z.number() },
      collection: 'moved',
    })
    await before.app.store.collection(Old).insert({ squad: 'a', pay: 1 })
    const New = defineModel('GroupsNew', {
      fields: { team: z.string(), pay: z.number() },
      collection: 'moved',
      renamed: { squad: 'team' },
    })
    const { app, send } = service({ store })
    app.mount(
      '/moved',
      createRouter({
        model: New,
        middlewares: [],
        aggregates: { by: ['team', 'pay'], of: ['pay'] },
      }),
    )
    await app.store.collection(New).insert({ team: 'a', pay: 2 })
    for (const [by, expected] of [
      ['team', [{ team: 'a', sum: { pay: 3 } }]],
      [
        'pay',
        [
          { pay: 1, sum: { pay: 1 } },
          { pay: 2, sum: { pay: 2 } },
        ],
      ],
    ] as const) {
      const answer = await send('QUERY', '/moved', {
        json: { aggregate: { sum: ['pay'] }, by: [by] },
      })
      expect(groups(answer)).toEqual(expected)
    }
  })
})
