import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { defineModel, ref } from '../../../src/index.ts'
import { served, Typed } from './typed.ts'

const INVALID = 'Check the submitted values.'
const HEX = 'abcdef0123456789abcdef01'

describe('4.1 Write rules, 4: schema validation', () => {
  test.each([
    [{ size: 1 }, ['name']],
    [{ name: 5 }, ['name']],
    [{ name: null }, ['name']],
    [{ name: ['a'] }, ['name']],
    [{ name: { toString: 'a' } }, ['name']],
    [{ name: 'a', size: 'many', open: 'maybe' }, ['size', 'open']],
    [{ name: 'a', kind: 'c' }, ['kind']],
    [{ name: 'a', tags: 'x' }, ['tags']],
    [{ name: 'a', tags: ['x', 5, 'y', null] }, ['tags.1', 'tags.3']],
    [{ name: 'a', place: {} }, ['place.city', 'place.zip', 'place.since']],
    [{ name: 'a', place: { city: 5, zip: 1, since: 1 } }, ['place.city']],
    [{ name: 'a', scores: { x: 'no', y: 1 } }, ['scores.x']],
    [{ name: 'a', owner: 'xyz' }, ['owner']],
    [{ name: null, size: null }, ['name']],
  ])('4.1 Write rules, 4: %j is a 400 with the full paths %j', async (json, paths) => {
    const { send, stored } = served(Typed)
    const answer = await send('POST', '/things', { json })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe(INVALID)
    expect(Object.keys(answer.body.fields ?? {})).toEqual(paths)
    for (const message of Object.values(answer.body.fields ?? {})) expect(message).toMatch(/^[A-Z]/)
    expect(await stored.count()).toBe(0)
  })

  test('4.1 Write rules, 4: PATCH gives the same fields, and changes nothing', async () => {
    const { send, stored } = served(Typed)
    const before = await stored.insert({ name: 'a', size: 1 })
    const json = { name: 'b', size: 'many', tags: ['x', 5], place: { city: 'Oslo' } }
    const answer = await send('PATCH', `/things/${before._id}`, { json })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe(INVALID)
    expect(Object.keys(answer.body.fields ?? {})).toEqual([
      'size',
      'tags.1',
      'place.zip',
      'place.since',
    ])
    expect(await stored.find()).toEqual([before])
  })

  test('4.1 Write rules, 4: the message is that of the schema, and never holds the value', async () => {
    const Named = defineModel('SchemaMessages', {
      fields: { name: z.string().min(3, 'Three letters at least.'), size: z.number().max(5) },
    })
    const { send } = served(Named)
    const answer = await send('POST', '/things', { json: { name: 'xq', size: 77123 } })
    expect(answer.body.fields).toEqual({
      name: 'Three letters at least.',
      size: expect.any(String),
    })
    expect(answer.text).not.toMatch(/xq|77123/)
  })

  test('4.1 Write rules, 4: models of zod/mini validate alike, with messages', async () => {
    const Mini = defineModel('SchemaMini', {
      fields: {
        name: mini.string().check(mini.minLength(3)),
        size: mini.optional(mini.number()),
        kind: mini._default(mini.string(), 'plain'),
      },
    })
    const { send } = served(Mini)
    expect(
      (await send('POST', '/things', { json: { name: 'abc', size: '5' } })).record,
    ).toMatchObject({
      name: 'abc',
      size: 5,
      kind: 'plain',
    })
    const refused = await send('POST', '/things', { json: { name: 'a', size: 'x' } })
    expect(refused.body.fields).toEqual({
      name: 'Too small: expected string to have >=3 characters',
      size: 'Invalid input: expected number, received string',
    })
  })

  test('4.1 Write rules, 4: asynchronous refinements are awaited, on POST and PATCH', async () => {
    const Async = defineModel('SchemaAsync', {
      fields: {
        name: z.string().refine(async (name) => {
          await new Promise((resolve) => setImmediate(resolve))
          return name !== 'taken'
        }, 'Choose another.'),
      },
    })
    const { send } = served(Async)
    const created = await send('POST', '/things', { json: { name: 'free' } })
    expect(created.status).toBe(201)
    const refused = { status: 400, body: { fields: { name: 'Choose another.' } } }
    expect(await send('POST', '/things', { json: { name: 'taken' } })).toMatchObject(refused)
    const path = `/things/${created.record._id}`
    expect(await send('PATCH', path, { json: { name: 'taken' } })).toMatchObject(refused)
    expect((await send('PATCH', path, { json: { name: 'other' } })).record.name).toBe('other')
  })

  test('4.1 Write rules, 4: an asynchronous rule runs once for a write', async () => {
    let lookups = 0
    const looked = async (name: string) => {
      lookups += 1
      return name !== ''
    }
    const shouted = async (text: string) => {
      lookups += 1
      return text.toUpperCase()
    }
    const Once = defineModel('SchemaOnce', {
      fields: { name: z.string().refine(looked), loud: z.string().transform(shouted) },
    })
    const { send } = served(Once)
    const { record } = await send('POST', '/things', { json: { name: 'a', loud: 'b' } })
    expect(record).toMatchObject({ name: 'a', loud: 'B' })
    expect(lookups).toBe(2)
  })

  test('4.1 Write rules, 4: lookups that all fail are a 500 each, and the process lives', async () => {
    const unhandled: unknown[] = []
    const hear = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', hear)
    onTestFinished(() => void process.off('unhandledRejection', hear))
    const down = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      throw new Error('lookup failed')
    }
    const twice = () => z.string().refine(down).refine(down)
    const Down = defineModel('SchemaDown', {
      fields: z
        .object({
          name: twice(),
          tags: z.array(twice()).optional(),
          made: z.custom<string>(down).refine(down).optional(),
          later: z.lazy(() => z.object({ in: z.union([twice(), z.number()]) })).optional(),
        })
        .superRefine(down)
        .superRefine(down),
    })
    const { send } = served(Down)
    for (const json of [
      { name: 'a' },
      { name: 'a', tags: ['b', 'c'] },
      { name: 'a', made: 'b' },
      { name: 'a', later: { in: 'b' } },
    ]) {
      expect((await send('POST', '/things', { json })).body.error).toBe('Internal Server Error')
    }
    // Node tells of a rejection that nobody has handled after the turn in which it came.
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })

  test('4.1 Write rules, 4: a refinement that throws is a 500, and nothing is written', async () => {
    const Broken = defineModel('SchemaBroken', {
      fields: {
        name: z.string().refine(() => {
          throw new Error('a detail')
        }),
      },
    })
    const { send, stored } = served(Broken)
    expect((await send('POST', '/things', { json: { name: 'a' } })).body).toMatchObject({
      error: 'Internal Server Error',
    })
    expect(await stored.count()).toBe(0)
  })

  test('4.1 Write rules, 4: what the schema makes of a value is what is stored', async () => {
    const Made = defineModel('SchemaMade', {
      fields: {
        name: z.string().trim().toLowerCase(),
        slug: z.string().transform((text) => text.replaceAll(' ', '-')),
        size: z.coerce.number(),
        flag: z.stringbool(),
        parsed: z.string().pipe(z.coerce.number()),
        nested: z.object({ known: z.string() }),
      },
    })
    const { send, stored } = served(Made)
    const json = {
      name: ' A b ',
      slug: 'a b',
      size: '5',
      flag: 'yes',
      parsed: '7',
      nested: { known: 'x', unknown: 1 },
    }
    const { record } = await send('POST', '/things', { json })
    const made = {
      name: 'a b',
      slug: 'a-b',
      size: 5,
      flag: true,
      parsed: 7,
      nested: { known: 'x' },
    }
    expect(record).toEqual({ _id: record._id, ...made })
    expect(await stored.find()).toEqual([record])
    const path = `/things/${record._id}`
    const patched = await send('PATCH', path, { json: { flag: 'no', parsed: '8', slug: 'c d' } })
    expect(patched.record).toMatchObject({ flag: false, parsed: 8, slug: 'c-d', name: 'a b' })
  })

  test('4.1 Write rules, 4: an object that refuses unknown keys says so', async () => {
    const Strict = defineModel('SchemaStrict', {
      fields: { place: z.strictObject({ city: z.string() }) },
    })
    const { send } = served(Strict)
    const answer = await send('POST', '/things', { json: { place: { city: 'Oslo', zip: 1 } } })
    expect(answer.status).toBe(400)
    expect(Object.keys(answer.body.fields ?? {})).toEqual(['place'])
  })
})

describe('answers, Writes: text is cast by the type of its field', () => {
  test.each([
    ['size', '120', 120],
    ['size', '-1.5e3', -1500],
    ['open', 'true', true],
    ['open', 'FALSE', false],
    ['open', 'yes', true],
    ['open', '0', false],
    ['at', '2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['at', '2024-02-29T10:00:00+02:00', '2024-02-29T08:00:00.000Z'],
    ['at', 1709164800000, '2024-02-29T00:00:00.000Z'],
    ['at', '1709164800000', '2024-02-29T00:00:00.000Z'],
    ['owner', HEX.toUpperCase(), HEX],
    ['sizes', ['1', 2, '3'], [1, 2, 3]],
    [
      'place',
      { city: 'Oslo', zip: '5', since: '2024-01-01' },
      { city: 'Oslo', zip: 5, since: '2024-01-01T00:00:00.000Z' },
    ],
    ['scores', { a: '1' }, { a: 1 }],
    ['any', '5', '5'],
  ])('answers, Writes: %s: %j is stored as %j, on POST and PATCH', async (field, value, stored) => {
    const { send } = served(Typed)
    const created = await send('POST', '/things', { json: { name: 'a', [field]: value } })
    expect(created.status, created.text).toBe(201)
    expect(created.record[field]).toEqual(stored)
    const bare = await send('POST', '/things', { json: { name: 'b' } })
    const patched = await send('PATCH', `/things/${bare.record._id}`, { json: { [field]: value } })
    expect(patched.record[field]).toEqual(stored)
    expect((await send('GET', `/things/${bare.record._id}`)).record[field]).toEqual(stored)
  })

  test.each([
    [
      'size',
      ['', ' ', 'abc', '0x10', '1e309', 'NaN', 'Infinity', '12px', ' 12', '1,5', true, [], {}, '١'],
    ],
    ['open', ['', 'maybe', 'tru', 1, 0, [], {}]],
    [
      'at',
      [
        '',
        'yesterday',
        '2024-13-01',
        '2024-02-31x',
        '31.12.2024',
        '1e99',
        1e99,
        '10000-01-01',
        true,
        [],
        {},
      ],
    ],
    [
      'owner',
      [
        '',
        'xyz',
        HEX.slice(1),
        `${HEX}0`,
        5,
        '𝟎'.repeat(24),
        '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
        {},
      ],
    ],
  ])(
    'answers, Writes: what %s cannot be cast from is a validation failure with fields',
    async (field, values) => {
      const { send, stored } = served(Typed)
      for (const value of values) {
        const answer = await send('POST', '/things', { json: { name: 'a', [field]: value } })
        expect(answer.status, JSON.stringify(value)).toBe(400)
        expect(answer.body.error).toBe(INVALID)
        expect(Object.keys(answer.body.fields ?? {})).toEqual([field])
      }
      expect(await stored.count()).toBe(0)
    },
  )

  test('2.1 Record: a reference holds an id of the form that its target has', async () => {
    const Target = defineModel('SchemaUuidTarget', { fields: { name: z.string() }, id: 'uuid' })
    const Pointing = defineModel('SchemaPointing', {
      fields: {
        target: ref('SchemaUuidTarget'),
        targets: z.array(ref('SchemaUuidTarget')).optional(),
      },
    })
    expect(Target.idType).toBe('uuid')
    const { send } = served(Pointing)
    const uuid = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
    expect(
      (await send('POST', '/things', { json: { target: uuid.toUpperCase(), targets: [uuid] } }))
        .record,
    ).toMatchObject({
      target: uuid,
      targets: [uuid],
    })
    const refused = await send('POST', '/things', { json: { target: HEX, targets: [uuid, HEX] } })
    expect(refused.body.fields).toEqual({
      target: 'Invalid ID format.',
      'targets.1': 'Invalid ID format.',
    })
  })
})

describe('answers, Writes: null, absence and defaults', () => {
  const Nullable = defineModel('SchemaNullable', {
    fields: {
      name: z.string(),
      note: z.string().nullable().optional(),
      size: z.number().nullish(),
      kind: z.string().default('plain'),
      made: z.number().default(() => 7),
      maybe: z.string().optional(),
    },
  })

  test('answers, Writes: null stores null where the schema takes it, and is a 400 elsewhere', async () => {
    const { send, stored } = served(Nullable)
    const { record } = await send('POST', '/things', { json: { name: 'a', note: 'n', size: 1 } })
    const path = `/things/${record._id}`
    expect((await send('PATCH', path, { json: { note: null, size: null } })).record).toMatchObject({
      note: null,
      size: null,
    })
    expect(await stored.findById(String(record._id))).toMatchObject({ note: null, size: null })
    for (const field of ['name', 'kind']) {
      const answer = await send('PATCH', path, { json: { [field]: null } })
      expect(answer.status).toBe(400)
      expect(Object.keys(answer.body.fields ?? {})).toEqual([field])
    }
  })

  test('answers, Writes: defaults are filled in on POST and not on PATCH', async () => {
    const { send, stored } = served(Nullable)
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    expect(record).toEqual({ _id: record._id, name: 'a', kind: 'plain', made: 7 })
    const path = `/things/${record._id}`
    await send('PATCH', path, { json: { kind: 'fancy', made: 8 } })
    expect((await send('PATCH', path, { json: { name: 'b' } })).record).toEqual({
      _id: record._id,
      name: 'b',
      kind: 'fancy',
      made: 8,
    })
    expect(await stored.count({ kind: 'fancy' })).toBe(1)
  })

  test('4.1 PATCH: fields that are not sent are kept, and absent ones stay absent', async () => {
    const { send } = served(Nullable)
    const { record } = await send('POST', '/things', { json: { name: 'a', size: 1 } })
    const patched = await send('PATCH', `/things/${record._id}`, { json: { name: 'b' } })
    expect(patched.record).toEqual({ ...record, name: 'b' })
    expect(patched.record).not.toHaveProperty('note')
  })
})
