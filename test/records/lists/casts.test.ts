import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { service } from '../service.ts'
import { EVERY, expectRefused, names, open } from './shop.ts'

const ID = '0123456789abcdef01234567'
const OTHER = 'f'.repeat(24)
const NOON = '2024-03-01T12:00:00.000Z'
const MIDNIGHT = '2024-03-01T00:00:00.000Z'

const ITEMS = [
  {
    name: 'yes',
    note: '7',
    size: 7,
    done: true,
    at: new Date(NOON),
    kind: 'cup',
    maker: ID,
    makers: [ID],
    tags: ['7', 'b'],
    marks: [7, -1.5],
    days: [new Date(NOON), new Date(MIDNIGHT)],
    place: { row: 7, city: '7' },
    stops: [{ km: 7, city: '7' }],
    any: '7',
  },
  {
    name: 'no',
    note: 'x',
    size: 0,
    done: false,
    at: new Date(0),
    kind: 'jug',
    maker: OTHER,
    any: 7,
  },
  {
    name: 'null',
    note: null,
    size: null,
    done: null,
    at: null,
    kind: null,
    maker: null,
    any: null,
  },
  { name: 'none' },
] as const

const opened = () => open({ query: EVERY }, ITEMS as never)

/** What a field finds: by text in a GET, and by a scalar in a QUERY. */
type Case = readonly [field: string, value: string | number | boolean | null, found: string[]]

const EMPTY = ['null', 'none']

const TEXTS: readonly Case[] = [
  ['name', 'yes', ['yes']],
  ['note', '7', ['yes']],
  ['note', '', []],
  ['note', 'X', []],
  ['note', ' x', []],
  ['size', '7', ['yes']],
  ['size', '7.0', ['yes']],
  ['size', '+7', ['yes']],
  ['size', '0.7e1', ['yes']],
  ['size', '70E-1', ['yes']],
  ['size', '07', ['yes']],
  ['size', '-0', ['no']],
  ['size', '.0', ['no']],
  ['size', '', EMPTY],
  ['size', '9007199254740993', []],
  ['done', 'true', ['yes']],
  ['done', '1', ['yes']],
  ['done', 'yes', ['yes']],
  ['done', 'false', ['no']],
  ['done', '0', ['no']],
  ['done', 'no', ['no']],
  ['done', '', EMPTY],
  ['at', NOON, ['yes']],
  ['at', '2024-03-01T12:00:00Z', ['yes']],
  ['at', '2024-03-01T12:00Z', ['yes']],
  ['at', '2024-03-01T12:00:00', ['yes']],
  ['at', '2024-03-01T13:00:00+01:00', ['yes']],
  ['at', '2024-03-01T06:30:00-0530', ['yes']],
  ['at', '2024-03-01', []],
  ['at', String(Date.parse(NOON)), ['yes']],
  ['at', '0', ['no']],
  ['at', '-0', ['no']],
  ['at', '1970', ['no']],
  ['at', '1970-01', ['no']],
  ['at', '1970-01-01', ['no']],
  ['at', '', EMPTY],
  ['kind', 'cup', ['yes']],
  ['kind', 'CUP', []],
  ['maker', ID, ['yes']],
  ['maker', ID.toUpperCase(), ['yes']],
  ['maker', '', EMPTY],
  ['makers', ID, ['yes']],
  ['tags', '7', ['yes']],
  ['tags', 'b', ['yes']],
  ['marks', '-1.5', ['yes']],
  ['days', MIDNIGHT, ['yes']],
  ['days', '2024-03-01', ['yes']],
  ['place.row', '7', ['yes']],
  ['place.city', '7', ['yes']],
  ['stops.km', '7', ['yes']],
  ['stops.city', '7', ['yes']],
  ['any', '7', ['yes']],
  ['any', '', EMPTY],
]

const SCALARS: readonly Case[] = [
  ['note', 7, ['yes']],
  ['note', '7', ['yes']],
  ['note', null, EMPTY],
  ['size', 7, ['yes']],
  ['size', '7', ['yes']],
  ['size', null, EMPTY],
  ['done', true, ['yes']],
  ['done', 1, ['yes']],
  ['done', 'yes', ['yes']],
  ['done', false, ['no']],
  ['done', 0, ['no']],
  ['done', null, EMPTY],
  ['at', NOON, ['yes']],
  ['at', Date.parse(NOON), ['yes']],
  ['at', 0, ['no']],
  ['at', null, EMPTY],
  ['kind', 'cup', ['yes']],
  ['kind', null, EMPTY],
  ['maker', ID, ['yes']],
  ['maker', null, EMPTY],
  ['makers', ID, ['yes']],
  ['tags', 'b', ['yes']],
  ['tags', 7, ['yes']],
  ['marks', -1.5, ['yes']],
  ['days', NOON, ['yes']],
  ['any', '7', ['yes']],
  ['any', 7, ['no']],
  ['any', '', []],
  ['any', null, EMPTY],
]

const REFUSED: readonly (readonly [field: string, value: string | number | boolean])[] = [
  ...[
    'x',
    ' 7',
    '7 ',
    '0x10',
    '0b1',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e309',
    '٧',
    '--1',
    '1e',
    '.',
    'true',
    'null',
    '7\u0000',
  ].map((text) => ['size', text] as const),
  ...['x', 'on', 'y', '2', ' true', 'null'].map((text) => ['done', text] as const),
  ...[
    'x',
    'today',
    '2024-13-01',
    '2024-02-30',
    '2024-03-01T25:00',
    '01/02/2024',
    '2024-3-1',
    '1e20',
    '8640000000000001',
    '-99999999999999',
    '+12024-01-01',
    '2024-03-01T12:00+99:00',
  ].map((text) => ['at', text] as const),
  ...[
    'x',
    '123',
    'zzzzzzzzzzzz',
    `${ID}0`,
    `${ID.slice(1)}g`,
    '00000000-0000-4000-8000-000000000000',
  ].map((text) => ['maker', text] as const),
  ['_id', 'x'],
  ['makers', 'x'],
  ['marks', 'x'],
  ['days', 'x'],
]

describe('answers, GET list: casting by field type', () => {
  test.each(TEXTS)('?%s=%s', async (field, value, found) => {
    const { list } = await opened()
    expect(names(await list({ [field]: String(value) }))).toEqual(found)
  })

  test.each(REFUSED)(
    'a failed cast is a 400 that does not echo the value: ?%s=%j',
    async (field, text) => {
      const shop = await opened()
      expectRefused(shop, await shop.list({ [field]: String(text) }), `Invalid value for ${field}.`)
    },
  )

  test('one wrong value of several is a 400 too', async () => {
    const shop = await opened()
    expectRefused(shop, await shop.list('size=7&size=x'), 'Invalid value for size.')
  })

  test('dotted fields are named in full', async () => {
    const shop = await opened()
    expectRefused(shop, await shop.list('place.row=x'), 'Invalid value for place.row.')
    expectRefused(shop, await shop.list('stops.km=x'), 'Invalid value for stops.km.')
  })
})

describe('4.1 QUERY: values are strings, numbers, booleans or null, cast by the schema', () => {
  const plain = TEXTS.filter(([field, value]) => !field.includes('.') && value !== '')
  test.each([...plain, ...SCALARS])('{ %s: %j }', async (field, value, found) => {
    const { ask } = await opened()
    expect(names(await ask({ filter: { [field]: value } }))).toEqual(found)
    expect(names(await ask({ filter: { [field]: { eq: value } } }))).toEqual(found)
    expect(names(await ask({ filter: { [field]: [value] } }))).toEqual(found)
    const others = ITEMS.map(({ name }) => name).filter((name) => !found.includes(name))
    expect(names(await ask({ filter: { [field]: { ne: value } } }))).toEqual(others)
    expect(names(await ask({ filter: { [field]: { nin: [value] } } }))).toEqual(others)
  })

  test.each([
    ...REFUSED,
    ['size', true],
    ['size', ''],
    ['done', 2],
    ['done', ''],
    ['at', true],
    ['at', 8.64e15 + 1],
    ['at', ''],
    ['maker', 7],
    ['maker', true],
    ['maker', ''],
  ] as const)('a failed cast is a 400: { %s: %j }', async (field, value) => {
    const shop = await opened()
    const error = `Invalid value for ${field}.`
    expectRefused(shop, await shop.ask({ filter: { [field]: value } }), error)
    expectRefused(shop, await shop.ask({ filter: { [field]: { gte: value } } }), error)
    expectRefused(shop, await shop.ask({ filter: { [field]: [value] } }), error)
  })

  test.each(['\ud800', 'a\udfff'])(
    'security, odd values: the lone surrogate %j is a 400',
    async (text) => {
      const shop = await opened()
      const { ask } = shop
      expectRefused(shop, await ask({ filter: { name: text } }), 'Invalid value for name.')
      expectRefused(shop, await ask({ filter: { any: [text] } }), 'Invalid value for any.')
      expectRefused(shop, await ask({ filter: { tags: { ne: text } } }), 'Invalid value for tags.')
    },
  )
})

describe('answers, GET list: casting, ids and enums of other kinds', () => {
  const Part = defineModel('CastPart', {
    id: 'uuid',
    fields: {
      name: z.string(),
      grade: z.union([z.literal(1), z.literal(2)]).optional(),
      next: ref('CastPart').optional(),
      flag: z.literal('on').optional(),
    },
  })
  const UUID = '01234567-89ab-4def-8123-456789abcdef'

  test('a uuid model takes uuids in any case, and refuses object ids', async () => {
    const { app, send } = service({ store: sqliteStore() })
    app.mount('/parts', createRouter({ model: Part, query: ['_id', 'next', 'grade', 'flag'] }))
    const first = await app.store.collection(Part).insert({ name: 'first', grade: 1, next: UUID })
    await app.store.collection(Part).insert({ name: 'second', flag: 'on' })
    const found = async (query: string) => names(await send('GET', `/parts?${query}`))
    expect(await found(`_id=${first._id}`)).toEqual(['first'])
    expect(await found(`next=${UUID.toUpperCase()}`)).toEqual(['first'])
    expect(await found('grade=1')).toEqual(['first'])
    expect(await found('grade=3')).toEqual([])
    expect(await found('flag=on')).toEqual(['second'])
    expect(await found('flag=off')).toEqual([])
    const refused = await send('GET', `/parts?_id=${ID}`)
    expect([refused.status, refused.body.error]).toEqual([400, 'Invalid value for _id.'])
  })
})

describe('answers, Writes: text is cast by the field type, of types made of others too', () => {
  const Made = defineModel('CastMade', {
    fields: {
      day: z.union([z.date(), z.null()]).optional(),
      count: z.number().or(z.null()).optional(),
      text: z.string().or(z.null()).optional(),
      other: z.union([ref('CastMade'), z.null()]).optional(),
      range: z.tuple([z.date(), z.date()]).optional(),
      event: z
        .discriminatedUnion('kind', [
          z.object({ kind: z.literal('fair'), from: z.date(), seats: z.number() }),
          z.object({ kind: z.literal('note'), from: z.string() }),
          z.object({ kind: z.literal('gig'), at: z.date() }),
        ])
        .optional(),
      both: z.intersection(z.object({ at: z.date() }), z.object({ n: z.number() })).optional(),
    },
  })

  test('a type or null is that type, to writes, filters and searches', async () => {
    const { app, send } = service()
    const lists = ['day', 'count', 'text', 'other'] as const
    app.mount(
      '/made',
      createRouter({ model: Made, query: lists, search: ['text'], blockedFields: [] }),
    )
    const json = { day: NOON, count: '5', text: 'Five', other: ID.toUpperCase() }
    const { record } = await send('POST', '/made', { json })
    expect(record).toMatchObject({ day: NOON, count: 5, text: 'Five', other: ID })
    await send('POST', '/made', { json: { day: null, count: null, text: null, other: null } })
    for (const query of [`day=${NOON}`, 'count=5', `other=${ID}`, 's=five']) {
      expect((await send('GET', `/made?${query}`)).records).toEqual([record])
    }
  })

  test('dates and numbers are cast where every kind of the value agrees', async () => {
    const { app, send } = service()
    app.mount('/made', createRouter({ model: Made, blockedFields: [] }))
    for (const [json, stored] of [
      [{ range: [NOON, MIDNIGHT] }, { range: [NOON, MIDNIGHT] }],
      [{ both: { at: NOON, n: '5' } }, { both: { at: NOON, n: 5 } }],
      [{ event: { kind: 'gig', at: NOON } }, { event: { kind: 'gig', at: NOON } }],
      [{ event: { kind: 'note', from: NOON } }, { event: { kind: 'note', from: NOON } }],
    ]) {
      expect((await send('POST', '/made', { json })).record).toMatchObject(stored as object)
    }
    const [, , gig] = await app.store.collection(Made).find({}, { sort: '_id' })
    expect(gig?.event).toEqual({ kind: 'gig', at: new Date(NOON) })
    const [ranged] = await app.store.collection(Made).find({}, { sort: '_id' })
    expect(ranged?.range).toEqual([new Date(NOON), new Date(MIDNIGHT)])
  })

  test('what an open kind holds under a name of another kind stays as it was sent', async () => {
    const sale = z.object({ kind: z.literal('sale'), amount: z.number(), at: z.date() })
    const Open = defineModel('CastOpen', {
      fields: { data: z.union([sale, z.looseObject({ kind: z.string() })]) },
    })
    const { app, send } = service()
    app.mount('/open', createRouter({ model: Open, blockedFields: [] }))
    const data = { kind: 'note', amount: '0012', at: '2024' }
    expect((await send('POST', '/open', { json: { data } })).record).toMatchObject({ data })
    expect(await app.store.collection(Open).find()).toMatchObject([{ data }])
  })

  test('dates are cast within five optional containers', async () => {
    const inner = z.array(z.object({ day: z.date().nullish() })).nullish()
    const outer = z.array(z.object({ in: z.object({ all: inner }).nullish() })).nullish()
    const Deep = defineModel('CastDeep', { fields: { deep: outer } })
    const { app, send } = service()
    app.mount('/deep', createRouter({ model: Deep, blockedFields: [] }))
    const json = { deep: [{ in: { all: [{ day: NOON }] } }] }
    expect((await send('POST', '/deep', { json })).record).toMatchObject(json)
  })
})
