import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, HttpError, ref, ValidationError } from '../../../src/index.ts'
import { NOON, service } from '../service.ts'

const City = defineModel('CollectionCity', {
  fields: {
    name: z.string(),
    code: z.string().optional(),
    size: z.number().optional(),
    at: z.date().optional(),
    tags: z.array(z.string()).optional(),
    place: z.object({ zip: z.string() }).optional(),
    country: ref('CollectionCity').optional(),
    kind: z.string().default('city'),
    secret: z.string().optional(),
    note: z.string().nullish(),
  },
  timestamps: true,
  unique: ['code'],
  hidden: ['secret'],
})

function collection() {
  const served = service()
  return { ...served, cities: served.app.store.collection(City) }
}

/** Three cities by name: a, b, c, of sizes 1, 2 and none. */
async function three() {
  const made = collection()
  const a = await made.cities.insert({
    name: 'a',
    size: 1,
    tags: ['x', 'y'],
    at: new Date(0),
    place: { zip: '1' },
    secret: 's',
    kind: 'city',
  })
  const b = await made.cities.insert({
    name: 'b',
    size: 2,
    tags: ['y'],
    country: a._id,
    kind: 'town',
  })
  const c = await made.cities.insert({ name: 'c', kind: 'city' })
  return { ...made, a, b, c }
}

const ABSENT = 'f'.repeat(24)

describe('design, app.store: writes', () => {
  test('design, app.store: insert gives the record with its id, defaults, casts and timestamps', async () => {
    const { cities } = collection()
    const record = await cities.insert({ name: 'a', size: '5', at: '2024-01-01' } as never)
    expect(record).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'a',
      size: 5,
      at: new Date(Date.UTC(2024, 0, 1)),
      kind: 'city',
      createdAt: new Date(NOON),
      updatedAt: new Date(NOON),
    })
    expect(await cities.findById(record._id)).toEqual(record)
  })

  test('design, app.store: insert takes an id of its own, once, and of the right form', async () => {
    const { cities } = collection()
    const _id = 'ABCDEF0123456789ABCDEF01'
    expect((await cities.insert({ _id, name: 'a', kind: 'x' }))._id).toBe(_id.toLowerCase())
    await expect(cities.insert({ _id, name: 'b', kind: 'x' })).rejects.toMatchObject({
      status: 409,
      fields: { _id: 'Already exists.' },
    })
    await expect(cities.insert({ _id: 'xyz', name: 'b', kind: 'x' })).rejects.toMatchObject({
      status: 400,
      message: 'Invalid ID format.',
    })
    expect(await cities.count()).toBe(1)
  })

  test('design, app.store: writes validate, with the errors of the routes', async () => {
    const { cities, a } = await three()
    const refused = {
      status: 400,
      message: 'Check the submitted values.',
      fields: { name: expect.any(String) },
    }
    const invalid = cities.insert({ name: 5 } as never)
    await expect(invalid).rejects.toBeInstanceOf(ValidationError)
    await expect(invalid).rejects.toMatchObject(refused)
    await expect(cities.update(a._id, { name: null } as never)).rejects.toMatchObject(refused)
    await expect(cities.updateWhere({}, { name: 5 } as never)).rejects.toMatchObject(refused)
    await cities.update(a._id, { code: 'X' })
    const duplicate = {
      status: 409,
      message: 'Duplicate value for: code.',
      fields: { code: 'Already exists.' },
    }
    await expect(cities.insert({ name: 'd', code: 'X', kind: 'x' })).rejects.toMatchObject(
      duplicate,
    )
    await expect(cities.updateWhere({ name: 'b' }, { code: 'X' })).rejects.toMatchObject(duplicate)
    expect(await cities.count()).toBe(3)
  })

  test('design, app.store: update gives the record, or null; undefined removes a field', async () => {
    const { cities, a, clock } = await three()
    clock.at = NOON + 1000
    const updated = await cities.update(a._id, { name: 'A', size: undefined, tags: ['z'] })
    const { size, ...rest } = a
    expect(size).toBe(1)
    expect(updated).toEqual({ ...rest, name: 'A', tags: ['z'], updatedAt: new Date(NOON + 1000) })
    expect(await cities.findById(a._id)).toEqual(updated)
    expect(await cities.update(ABSENT, { name: 'x' })).toBeNull()
    await expect(cities.update('xyz', { name: 'x' })).rejects.toMatchObject({
      message: 'Invalid ID format.',
    })
  })

  test('design, app.store: undefined on a required field is refused, and what is no field is left alone', async () => {
    const { cities, a } = await three()
    await expect(cities.update(a._id, { name: undefined } as never)).rejects.toMatchObject({
      fields: { name: expect.any(String) },
    })
    const odd = {
      unknown: 1,
      gone: undefined,
      _id: undefined,
      createdAt: undefined,
      'place.zip': undefined,
      toString: undefined,
    }
    expect(await cities.update(a._id, { ...odd, size: 9 } as never)).toEqual({ ...a, size: 9 })
    expect(await cities.updateWhere({ name: 'a' }, { ...odd, size: 8 } as never)).toBe(1)
    expect(await cities.findById(a._id)).toEqual({ ...a, size: 8 })
  })

  test('design, app.store: undefined on a field with a default removes it, and reads show the default', async () => {
    const { cities, a } = await three()
    const { kind } = a
    expect(await cities.update(a._id, { kind: undefined } as never)).toMatchObject({ kind })
    expect(await cities.find({ kind: null } as never)).toMatchObject([{ _id: a._id, kind }])
  })

  test('design, app.store: updateWhere changes what matches and gives the count', async () => {
    const { cities, clock } = await three()
    clock.at = NOON + 1000
    expect(await cities.updateWhere({ kind: 'city' }, { size: 7, note: undefined })).toBe(2)
    expect((await cities.find()).map(({ size }) => size)).toEqual([7, 2, 7])
    expect(
      (await cities.find({ size: 7 })).every(
        ({ updatedAt }) => updatedAt?.getTime() === NOON + 1000,
      ),
    ).toBe(true)
    expect(await cities.updateWhere({ name: 'nobody' }, { size: 1 })).toBe(0)
  })

  test('design, app.store: delete says whether there was such a record', async () => {
    const { cities, a } = await three()
    expect(await cities.delete(a._id.toUpperCase())).toBe(true)
    expect(await cities.delete(a._id)).toBe(false)
    await expect(cities.delete('xyz')).rejects.toBeInstanceOf(HttpError)
    expect(await cities.count()).toBe(2)
  })

  test('design, app.store: what it is given is not changed', async () => {
    const { cities } = collection()
    const record = Object.freeze({ name: 'a', kind: 'x', tags: Object.freeze(['b']) as string[] })
    await cities.insert(record)
    expect(record).toEqual({ name: 'a', kind: 'x', tags: ['b'] })
  })
})

describe('design, app.store: reads', () => {
  test('design, app.store: hidden fields are readable, and may be filtered and sorted by', async () => {
    const { cities, a, app, send } = await three()
    expect((await cities.findById(a._id))?.secret).toBe('s')
    expect((await cities.find({ secret: 's' }, { sort: 'secret', select: ['secret'] }))[0]).toEqual(
      { _id: a._id, secret: 's' },
    )
    app.mount('/cities', createRouter({ model: City, allowedFields: [] }))
    expect((await send('GET', `/cities/${a._id}`)).text).not.toContain('secret')
  })

  test('design, app.store: find without anything gives all, by id', async () => {
    const { cities, a, b, c } = await three()
    expect(await cities.find()).toEqual([a, b, c])
    expect(await cities.find({})).toEqual([a, b, c])
    expect(await cities.find(undefined, {})).toEqual([a, b, c])
  })

  test('design, app.store: sort, limit, skip and select', async () => {
    const { cities, a, b, c } = await three()
    expect(await cities.find({}, { sort: '-name' })).toEqual([c, b, a])
    expect(await cities.find({}, { sort: ['kind', '-name'] })).toEqual([c, a, b])
    expect(await cities.find({}, { sort: '-size' })).toEqual([b, a, c])
    expect(await cities.find({}, { sort: 'place.zip', limit: 1 })).toEqual([b])
    expect(await cities.find({}, { sort: 'name', limit: 1, skip: 1 })).toEqual([b])
    expect(await cities.find({}, { skip: 2 })).toEqual([c])
    expect(await cities.find({}, { limit: 0 })).toEqual([])
    expect(await cities.find({ name: 'a' }, { select: ['name', 'place.zip'] })).toEqual([
      { _id: a._id, name: 'a', place: { zip: '1' } },
    ])
    expect(
      await cities.find({ name: 'c' }, { select: ['-kind', '-createdAt', '-updatedAt'] }),
    ).toEqual([{ _id: c._id, name: 'c' }])
    expect(await cities.find({ name: 'c' }, { select: [] })).toEqual([c])
  })

  test('design, app.store: a find has no limit unless it is given one', async () => {
    const { cities } = collection()
    for (let index = 0; index < 250; index += 1)
      await cities.insert({ name: String(index), kind: 'x' })
    expect(await cities.find()).toHaveLength(250)
  })

  test.each([
    [{ name: 'a' }, 'a'],
    [{ name: ['a', 'c'] }, 'ac'],
    [{ name: { ne: 'a' } }, 'bc'],
    [{ size: { gt: 1 } }, 'b'],
    [{ size: { gte: 1, lt: 2 } }, 'a'],
    [{ size: null }, 'c'],
    [{ size: { nin: [1, null] } }, 'b'],
    [{ name: { in: ['b', 'c'] }, kind: 'city' }, 'c'],
    [{ tags: 'y' }, 'ab'],
    [{ at: new Date(0) }, 'a'],
    [{ at: { lte: new Date(5) } }, 'a'],
    [{ at: ['1970-01-01T00:00:00.000Z'] }, 'a'],
    [{ 'place.zip': '1' }, 'a'],
    [{ size: '2' }, 'b'],
    [{ createdAt: { lte: new Date(NOON) } }, 'abc'],
  ])(
    'design, app.store: the filter %o is the grammar of the QUERY body and finds %s',
    async (filter, names) => {
      const { cities } = await three()
      expect((await cities.find(filter as object)).map(({ name }) => name).join('')).toBe(names)
      expect(await cities.count(filter as object)).toBe(names.length)
      expect((await cities.findOne(filter as object))?.name).toBe(names[0])
    },
  )

  test('design, app.store: findOne gives the first that matches by _id, in a step as outside of it', async () => {
    const { app, cities, a, b } = await three()
    // Through an index the second would come first.
    await cities.update(a._id, { code: 'z' })
    await cities.update(b._id, { code: 'y' })
    expect((await cities.findOne({ code: { gt: 'a' } }))?.name).toBe('a')
    const found = await app.store.atomic(async (tx) => {
      const inside = tx.collection(City)
      await inside.update(b._id, { size: 7 })
      return inside.findOne({ name: ['a', 'b'] })
    })
    expect(found?.name).toBe('a')
  })

  test('design, app.store: an id and a reference are filtered by in either case', async () => {
    const { cities, a, b } = await three()
    expect(await cities.findOne({ _id: a._id.toUpperCase() })).toEqual(a)
    expect(await cities.findOne({ country: a._id })).toEqual(b)
    expect(await cities.find({ _id: [a._id, b._id] })).toEqual([a, b])
  })

  test.each([
    [{ nmae: 'a' }, "Field 'nmae' is not filterable."],
    [{ $where: '1' }, "Field '$where' is not filterable."],
    [{ 'name.first': 'a' }, "Field 'name.first' is not filterable."],
    [JSON.parse('{"__proto__":"a"}'), "Field '__proto__' is not filterable."],
    [{ name: {} }, "Filter 'name' has no conditions."],
    [
      { name: { like: 'a' } },
      "Unknown operator 'like' on 'name'. Allowed: eq, ne, gt, gte, lt, lte, in, nin.",
    ],
    [
      { name: { $ne: 'a' } },
      "Unknown operator '$ne' on 'name'. Allowed: eq, ne, gt, gte, lt, lte, in, nin.",
    ],
    [{ name: { in: [] } }, "Operator 'in' on 'name' expects a non-empty list."],
    [{ name: { in: 'a' } }, "Operator 'in' on 'name' expects a list."],
    [{ name: [['a']] }, "Operator 'in' on 'name' expects scalar values."],
    [{ name: { eq: ['a'] } }, "Operator 'eq' on 'name' expects a single value."],
    [{ size: 'many' }, 'Invalid value for size.'],
    [{ name: undefined }, 'Invalid value for name.'],
    [{ at: new Date(Number.NaN) }, 'Invalid value for at.'],
    ['name', "'filter' must be a JSON object."],
    [[], "'filter' must be a JSON object."],
  ])('design, app.store: the filter %o is refused: %s', async (filter, message) => {
    const { cities } = await three()
    const refused = { status: 400, message }
    await expect(cities.find(filter as never)).rejects.toMatchObject(refused)
    await expect(cities.findOne(filter as never)).rejects.toMatchObject(refused)
    await expect(cities.count(filter as never)).rejects.toMatchObject(refused)
    await expect(cities.updateWhere(filter as never, { size: 1 })).rejects.toMatchObject(refused)
    expect(await cities.count({ size: 1 })).toBe(1)
  })

  test.each([
    [{ sort: 'nmae' }, "Field 'nmae' is not sortable."],
    [{ sort: ['name', '-$where'] }, "Field '$where' is not sortable."],
    [{ sort: 'tags' }, "Field 'tags' is not sortable."],
    [{ sort: "name' --" }, "Field 'name' --' is not sortable."],
    [{ select: ['nmae'] }, "'select' lists 'nmae'"],
    [{ select: ['name', '-size'] }, "'select'"],
    [{ limit: -1 }, "'limit'"],
    [{ limit: 1.5 }, "'limit'"],
    [{ limit: '5' }, "'limit'"],
    [{ limit: Number.NaN }, "'limit'"],
    [{ skip: -1 }, "'skip'"],
    [{ skip: '1' }, "'skip'"],
  ])('design, app.store: the options %o are refused', async (options, message) => {
    const { cities } = await three()
    await expect(cities.find({}, options as never)).rejects.toThrow(message)
  })

  test('design, app.store: it needs no router, and waits for the tables itself', async () => {
    const { cities } = collection()
    expect(await cities.find()).toEqual([])
    expect(await cities.findOne({ name: 'a' })).toBeNull()
    expect(await cities.findById(ABSENT)).toBeNull()
    await expect(cities.findById('xyz')).rejects.toMatchObject({
      status: 400,
      message: 'Invalid ID format.',
    })
    await expect(cities.findById(undefined as never)).rejects.toMatchObject({
      message: 'Invalid ID format.',
    })
    expect(await cities.count()).toBe(0)
  })
})
