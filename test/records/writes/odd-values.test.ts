import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineModel } from '../../../src/index.ts'
import { served, Typed } from './typed.ts'

const INVALID = 'Check the submitted values.'

describe('security, odd values: odd values are refused or stored right, never a 500', () => {
  const TEXTS = [
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\uffff',
    '\ud83d\ude00',
    "'; DROP TABLE things;--",
    '$where',
    '`"\\',
    'é',
    'e\u0301',
    '\u202e',
    '\r\n',
    '\u2028',
    '%00',
    '{{7*7}}',
    'x'.repeat(100_000),
  ]

  test.each(TEXTS)('the text %j comes back as it was sent', async (text) => {
    const { send, stored } = served(Typed)
    const json = {
      name: text,
      tags: [text],
      any: { [`k${text}`.replaceAll(/[.$\u0000]/g, '')]: text },
    }
    const { record } = await send('POST', '/things', { json })
    expect(record).toEqual({ _id: record._id, ...json })
    expect((await send('GET', `/things/${record._id}`)).record).toEqual(record)
    expect(await stored.find({ name: text })).toEqual([record])
    const patched = await send('PATCH', `/things/${record._id}`, { json: { name: `${text}!` } })
    expect(patched.record.name).toBe(`${text}!`)
  })

  test.each(['\ud800', 'a\udc00b', '\udc00\ud800'])(
    'the lone surrogate %j is a 400, wherever it stands',
    async (text) => {
      const { send, stored } = served(Typed)
      const before = await stored.insert({ name: 'a' })
      for (const json of [
        { name: text },
        { name: 'a', tags: ['b', text] },
        { name: 'a', any: { in: [{ [text]: 1 }] } },
      ]) {
        for (const [method, path] of [
          ['POST', '/things'],
          ['PATCH', `/things/${before._id}`],
        ] as const) {
          const answer = await send(method, path, { json })
          expect(answer.status).toBe(400)
          expect(answer.body.error).toBe(INVALID)
        }
      }
      expect(await stored.find()).toEqual([before])
    },
  )

  test('a NUL in a key of a free object is a 400, since some stores end keys there', async () => {
    const { send } = served(Typed)
    for (const json of [
      { name: 'a', any: { 'a\u0000b': 1 } },
      { name: 'a', scores: { 'a\u0000b': 1 } },
    ]) {
      const answer = await send('POST', '/things', { json })
      expect(answer.status).toBe(400)
      expect(Object.keys(answer.body.fields ?? {})).toHaveLength(1)
    }
  })

  test.each([
    ['0', 0],
    ['-0', 0],
    ['1e308', 1e308],
    ['5e-324', 5e-324],
    ['0.1', 0.1],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740992],
    ['1e309', undefined],
    ['-1e309', undefined],
  ])('the number %s is stored as %s, or refused', async (text, number) => {
    const { send, stored } = served(Typed)
    const headers = { 'content-type': 'application/json' }
    const answer = await send('POST', '/things', { body: `{"name":"a","size":${text}}`, headers })
    expect(answer.status).toBe(number === undefined ? 400 : 201)
    if (number === undefined) return
    expect(Object.is(answer.record.size, number) || number === 0).toBe(true)
    expect(await stored.count({ size: number })).toBe(1)
  })

  test('dates beyond the years 0000 to 9999, and infinity, are a 400 however they come', async () => {
    const far = (text: string) => new Date(Number(text))
    const Far = defineModel('OddFar', {
      fields: {
        name: z.string(),
        at: z.coerce.date().optional(),
        made: z.string().transform(far).optional(),
        any: z.any(),
      },
    })
    const { app, send, stored } = served(Far)
    const before = await stored.insert({ name: 'a', any: 1 })
    for (const [json, field, message] of [
      [{ at: '+010000-01-01' }, 'at', 'Invalid date.'],
      [{ at: '-000001-01-01' }, 'at', 'Invalid date.'],
      [{ made: '8640000000000000' }, 'made', 'Invalid date.'],
      [{ any: { deep: ['HUGE'] } }, 'any', 'Invalid number.'],
    ] as const) {
      const body = JSON.stringify({ name: 'b', any: 1, ...json }).replace('"HUGE"', '1e999')
      const headers = { 'content-type': 'application/json' }
      const post = await send('POST', '/things', { body, headers })
      expect([post.status, post.body.fields]).toEqual([400, { [field]: message }])
      const patch = await send('PATCH', `/things/${before._id}`, { body, headers })
      expect([patch.status, patch.body.fields]).toEqual([400, { [field]: message }])
    }
    const far2 = { name: 'c', at: new Date(8.64e15), any: 1 }
    await expect(app.store.collection(Far).insert(far2)).rejects.toMatchObject({ status: 400 })
    expect(await stored.find()).toEqual([before])
  })

  test('duplicate keys of a body: the last one counts', async () => {
    const { send } = served(Typed)
    const headers = { 'content-type': 'application/json' }
    const answer = await send('POST', '/things', { body: '{"name":"a","name":"b"}', headers })
    expect(answer.record.name).toBe('b')
  })
})

describe('values that only the program can have made', () => {
  const circle: Record<string, unknown> = {}
  circle.in = [circle]
  const long = Array.from({ length: 2000 }, () => 'a')
  const largeCircle: Record<string, unknown> = { long }
  largeCircle.in = [largeCircle]

  test.each<readonly [type: string, value: unknown]>([
    ['Map', new Map([[1, 2]])],
    ['Map', { deep: [new Map()] }],
    ['Map', [...long, new Map()]],
    ['Map', new Map(long.entries())],
    ['Set', new Set([1])],
    ['bigint', 5n],
    ['bigint', { deep: [5n] }],
    ['symbol', Symbol('a')],
    ['function', () => 1],
    ['function', { toJSON: () => 1 }],
    ['function', [() => 1]],
    ['function', { long: [...long, () => 1] }],
    ['RegExp', /a/],
    ['URL', new URL('http://a.example')],
    ['Uint8Array', new Uint8Array([1])],
    ['Error', new Error('a')],
    ['Promise', { late: Promise.resolve(1) }],
    ['itself', circle],
    ['itself', { long, circle }],
    ['itself', largeCircle],
  ])(
    '%s are a mistake in the model: a 500 that the log explains, and nothing is stored',
    async (type, value) => {
      const Made = defineModel('OddMade', {
        fields: {
          name: z.string(),
          made: z
            .string()
            .transform(() => value)
            .optional(),
        },
      })
      const { app, send, stored, log } = served(Made)
      const before = await stored.insert({ name: 'a' })
      const json = { name: 'b', made: 'c' }
      expect((await send('POST', '/things', { json })).status).toBe(500)
      expect((await send('PATCH', `/things/${before._id}`, { json })).status).toBe(500)
      const what = type === 'itself' ? 'a value that contains itself' : `the type '${type}'`
      const error = `Model 'OddMade': field 'made': a record cannot hold ${what}. Let the schema make a value of JSON of it, or a date`
      expect(log.text.split(JSON.stringify(error).slice(1, -1))).toHaveLength(3)
      await expect(app.store.collection(Made).insert(json)).rejects.toThrow(new TypeError(error))
      expect(await stored.find()).toEqual([before])
    },
  )

  test('are stored if they are made of plain values', async () => {
    class Point {
      readonly x = 1
      readonly at = new Date(0)
    }
    const plain = Object.assign(Object.create(null), { a: [new Point()] })
    const Made = defineModel('OddPlain', {
      fields: { name: z.string(), made: z.string().transform(() => plain) },
    })
    const { send } = served(Made)
    const { record } = await send('POST', '/things', { json: { name: 'a', made: 'b' } })
    expect(record.made).toEqual({ a: [{ x: 1, at: '1970-01-01T00:00:00.000Z' }] })
  })

  test('are stored if they are as deep as JSON can be, or hold one value several times', async () => {
    const Held = defineModel('OddDeep', { fields: { name: z.string(), made: z.any() } })
    const { stored } = served(Held)
    const twice = { a: 1 }
    let deep: unknown = [twice, twice]
    for (let level = 0; level < 600; level += 1) deep = { deep }
    const made = { deep, wide: Array.from({ length: 2000 }, () => twice) }
    const { _id } = await stored.insert({ name: 'a', made })
    expect((await stored.findById(String(_id)))?.made).toEqual(made)
  })

  test('are stored without their functions, and unboxed', async () => {
    class Tagged {
      readonly x = 1
      readonly [Symbol.toStringTag] = 'Tagged'
      readonly double = () => 2
    }
    const Held = defineModel('OddBoxed', { fields: { name: z.string(), made: z.any() } })
    const { stored } = served(Held)
    const wide = Array.from({ length: 2000 }, (_, at) => at)
    const made = { text: Object('😀'), number: Object(5), tagged: new Tagged(), wide, f: () => 1 }
    const { _id } = await stored.insert({ name: 'a', made })
    const kept = { text: '😀', number: 5, tagged: { x: 1 }, wide }
    expect((await stored.findById(String(_id)))?.made).toEqual(kept)
    await expect(stored.insert({ name: 'a', made: { text: Object('\ud800') } })).rejects.toThrow()
  })

  test('may be of the classes of BSON, but a client cannot name one', async () => {
    class Decimal {
      readonly bytes = new Uint8Array(16)
      get _bsontype() {
        return 'Decimal128'
      }
      toJSON() {
        return { $numberDecimal: '1.5' }
      }
    }
    const Held = defineModel('OddBson', { fields: { name: z.string(), made: z.any() } })
    const { send, stored } = served(Held)
    const wide = Array.from({ length: 2000 }, () => new Decimal())
    for (const made of [new Decimal(), { in: [new Decimal()] }, wide]) {
      const { _id } = await stored.insert({ name: 'a', made })
      expect(JSON.stringify((await stored.findById(String(_id)))?.made)).toBe(JSON.stringify(made))
    }
    const json = { name: 'a', made: { _bsontype: 'Decimal128', text: '\ud800' } }
    expect((await send('POST', '/things', { json })).status).toBe(400)
  })
})
