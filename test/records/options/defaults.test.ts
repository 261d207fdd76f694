import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  createRouter,
  defineModel,
  type RouterOptions,
  ref,
  type Values,
} from '../../../src/index.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import { type Service, service } from '../service.ts'

const Maker = defineModel('DefaultMaker', { fields: { name: z.string() } })
const fields = {
  name: z.string(),
  size: z.number().optional(),
  note: z.string().optional(),
  maker: ref('DefaultMaker').optional(),
}
const Thing = defineModel('DefaultThing', {
  fields,
  output: (record) => ({ ...record, shown: true }),
})
type ThingOptions = Omit<RouterOptions<Values<typeof fields>>, 'model'>

/** A router over `count` things named `n000`, `n001`, …, in an order of their own. */
async function things(options: ThingOptions = {}, count = 3, served: Service = service()) {
  served.app.mount('/things', createRouter({ model: Thing, ...options }))
  const stored = served.app.store.collection(Thing)
  for (let at = 0; at < count; at += 1) {
    const number = (at * 7) % count
    await stored.insert({
      name: `n${String(number).padStart(3, '0')}`,
      size: number,
      note: 'a note',
    })
  }
  const list = async (query: string) => (await served.send('GET', `/things${query}`)).body
  return { ...served, stored, list }
}

const names = (body: { data?: unknown }) =>
  (body.data as { name: string }[]).map(({ name }) => name)

describe('2.6 Server options: defaults and effects', () => {
  test('2.6 model: it is all that is required', async () => {
    const { list } = await things()
    expect(await list('')).toMatchObject({ success: true, data: expect.any(Array) })
  })

  test('2.6 orderBy: none by default, then _id alone orders; with it, - is descending', async () => {
    const plain = await things()
    expect(names(await plain.list(''))).toEqual(['n000', 'n001', 'n002'])
    const descending = await things({ orderBy: '-name' })
    expect(names(await descending.list(''))).toEqual(['n002', 'n001', 'n000'])
    const twoKeys = await things({ orderBy: ['note', '-size'] })
    expect(names(await twoKeys.list(''))).toEqual(['n002', 'n001', 'n000'])
  })

  test('2.6 query: empty by default, so every parameter is ignored; with it, equality filters', async () => {
    const denied = await things()
    expect(names(await denied.list('?name=n001'))).toHaveLength(3)
    const allowed = await things({ query: ['name'] })
    expect(names(await allowed.list('?name=n001&size=5'))).toEqual(['n001'])
  })

  test('2.6 search: none by default, then a term is ignored; with it, the fields are searched', async () => {
    const denied = await things()
    expect(names(await denied.list('?s=N001'))).toHaveLength(3)
    const allowed = await things({ search: ['name'] })
    expect(names(await allowed.list('?s=N001'))).toEqual(['n001'])
    expect(names(await allowed.list('?search=N001'))).toEqual(['n001'])
  })

  test('2.6 search: a dotted name searches the referenced model', async () => {
    const { app, stored, list } = await things({ search: ['maker.name'] }, 0)
    const maker = await app.store.collection(Maker).insert({ name: 'Ann' })
    await stored.insert({ name: 'hers', maker: maker._id })
    await stored.insert({ name: 'nobodys' })
    expect(names(await list('?s=ann'))).toEqual(['hers'])
  })

  test('2.6 filterableFields: the same as query by default', async () => {
    const byDefault = await things({ query: ['size'] })
    expect(names(await byDefault.list('?rangeField=size&range=1-'))).toHaveLength(2)
    expect((await byDefault.list('?rangeField=name&range=1-')).error).toBe(
      "Field 'name' is not filterable.",
    )
    const own = await things({ query: ['size'], filterableFields: ['name'] })
    expect((await own.list('?rangeField=size&range=1-')).error).toBe(
      "Field 'size' is not filterable.",
    )
    expect(names(await own.list('?compareField=name&compareValue=n001'))).toEqual(['n001'])
  })

  test('2.6 sortableFields: the query fields and those of orderBy by default', async () => {
    const byDefault = await things({ query: ['size'], orderBy: '-name' })
    expect(names(await byDefault.list('?sort=size'))).toEqual(['n000', 'n001', 'n002'])
    expect(names(await byDefault.list('?sort=name'))).toEqual(['n000', 'n001', 'n002'])
    expect((await byDefault.list('?sort=note')).error).toBe("Field 'note' is not sortable.")
    const own = await things({ query: ['size'], orderBy: '-name', sortableFields: ['note'] })
    expect((await own.list('?sort=size')).error).toBe("Field 'size' is not sortable.")
    expect((await own.list('?sort=note')).success).toBe(true)
  })

  test('2.6 pagination: offset by default, cursor when set', async () => {
    const offset = await things()
    expect((await offset.list('?page=1')).pagination).toHaveProperty('totalPages')
    const cursor = await things({ pagination: 'cursor' })
    expect((await cursor.list('')).pagination).toEqual({
      pageSize: 50,
      hasMore: false,
      nextCursor: null,
    })
  })

  test('2.6 countStrategy: exact by default; none gives hasMore; estimated counts as exactly when unfiltered', async () => {
    const exact = await things()
    expect((await exact.list('?page=1&pageSize=2')).pagination).toEqual({
      currentPage: 1,
      pageSize: 2,
      totalPages: 2,
      totalRecords: 3,
    })
    const none = await things({ countStrategy: 'none' })
    expect((await none.list('?page=1&pageSize=2')).pagination).toEqual({
      currentPage: 1,
      pageSize: 2,
      hasMore: true,
    })
    const estimated = await things({ countStrategy: 'estimated' })
    expect((await estimated.list('?page=1')).pagination).toMatchObject({
      totalRecords: expect.any(Number),
    })
  })

  test('2.6 maxLimit: 100 by default, for every way to read', async () => {
    const { list, send } = await things({}, 105)
    expect(names(await list(''))).toHaveLength(100)
    expect(names(await list('?page=1&pageSize=500'))).toHaveLength(100)
    expect((await send('QUERY', '/things', { json: { limit: 500 } })).records).toHaveLength(100)
    const small = await things({ maxLimit: 2 })
    expect(names(await small.list(''))).toHaveLength(2)
    expect((await small.list('?page=1')).pagination).toMatchObject({ pageSize: 2 })
  })

  test('2.6 defaultPageSize: 50 by default', async () => {
    const { list } = await things({}, 60)
    expect(names(await list('?page=1'))).toHaveLength(50)
    const small = await things({ defaultPageSize: 2 })
    expect(names(await small.list('?page=1'))).toHaveLength(2)
    expect(names(await small.list(''))).toHaveLength(3)
  })

  test('2.6 maxPage: off by default; with it deeper pages are a 400', async () => {
    const off = await things()
    expect(await off.list('?page=1000000')).toMatchObject({ success: true, data: [] })
    const two = await things({ maxPage: 2 })
    expect((await two.list('?page=2')).success).toBe(true)
    expect((await two.list('?page=3')).error).toBe(
      'Page 3 is beyond the maximum of 2. Narrow the filter, or page with a cursor instead.',
    )
  })

  test('2.6 maxTimeMS · 2.6 allowDiskUse · 2.6 batchSize: off by default, handed to the store when set', async () => {
    const reads: Read[] = []
    const spied = () => {
      const store = sqliteStore()
      const collection = store.collection.bind(store)
      store.collection = (schema) => {
        const inner = collection(schema)
        if (schema.name.startsWith('fieldgate_')) return inner
        return {
          ...inner,
          find(read) {
            reads.push(read)
            return inner.find(read)
          },
          findJson: undefined as never,
        }
      }
      return service({ store })
    }
    await (await things({}, 0, spied())).list('')
    expect(reads.map(({ hints }) => ({ ...hints, signal: undefined }))).toEqual([{}])
    reads.length = 0
    await (await things({ maxTimeMS: 5000, allowDiskUse: true, batchSize: 10 }, 0, spied())).list(
      '',
    )
    expect(reads.map(({ hints }) => ({ ...hints, signal: undefined }))).toEqual([
      { timeLimitMs: 5000, allowDiskUse: true, batchSize: 10 },
    ])
  })

  test('2.6 maxSearchLength: 128 by default', async () => {
    const { list } = await things({ search: ['name'] })
    expect((await list(`?s=${'x'.repeat(128)}`)).success).toBe(true)
    expect((await list(`?s=${'x'.repeat(129)}`)).error).toBe('Search term exceeds 128 characters.')
    const short = await things({ search: ['name'], maxSearchLength: 3 })
    expect((await short.list('?s=n001')).error).toBe('Search term exceeds 3 characters.')
  })

  test('2.6 maxRelationMatches: a cap on the ids that a search pulls, with a warning when hit', async () => {
    const { app, stored, list, log } = await things(
      { search: ['maker.name'], maxRelationMatches: 2, allowedFields: [] },
      0,
    )
    const makers = app.store.collection(Maker)
    for (const name of ['a1', 'a2', 'a3'])
      await stored.insert({ name, maker: (await makers.insert({ name }))._id })
    expect(names(await list('?s=a'))).toHaveLength(2)
    expect(log.lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining('maxRelationMatches (2)') },
    ])
  })

  test('2.6 allowRawRegex: false by default; true hands the term to the store as a pattern', async () => {
    const filters: unknown[] = []
    const searched = async (options: ThingOptions) => {
      const store = { ...sqliteStore(), rawRegex: true }
      const { collection } = store
      store.collection = (schema) => ({
        ...collection(schema),
        findJson: async ({ filter }) => {
          filters.push(filter)
          return []
        },
      })
      const { list } = await things(
        { search: ['name'], lean: true, ...options },
        0,
        service({ store }),
      )
      await list('?s=n00.')
    }
    await searched({})
    await searched({ allowRawRegex: true })
    expect(filters).toEqual([
      { op: 'contains', field: 'name', text: 'n00.' },
      { op: 'matches', field: 'name', pattern: 'n00.' },
    ])
  })

  test('2.6 allowRawRegex: a store that cannot match safely refuses it at start-up', async () => {
    const store = { ...sqliteStore(), name: 'limited', rawRegex: false }
    await expect(things({ allowRawRegex: true }, 0, service({ store }))).rejects.toThrow(
      new TypeError("Router '/things': 'allowRawRegex' cannot be used with the store 'limited'"),
    )
  })

  test("2.6 lean: false by default; true skips the model's output", async () => {
    const shown = await things()
    expect((await shown.list('')).data).toMatchObject([
      { shown: true },
      { shown: true },
      { shown: true },
    ])
    const lean = await things({ lean: true })
    for (const record of (await lean.list('')).data as object[])
      expect(record).not.toHaveProperty('shown')
  })

  test('2.6 middlewares: none by default', async () => {
    const { list } = await things()
    expect((await list('')).success).toBe(true)
    const guarded = await things({
      middlewares: [() => Response.json({ success: false, error: 'No.' }, { status: 401 })],
    })
    expect((await guarded.list('')).error).toBe('No.')
  })

  test('2.6 enableQuery · 9 Versioning: true by default', async () => {
    const { send } = await things()
    expect((await send('QUERY', '/things', { json: {} })).records).toHaveLength(3)
  })

  test('2.6 validate · 2.6 onGet · 2.6 runAfterCreate: none by default; strictAfterCreate false', async () => {
    const { send } = await things()
    expect((await send('POST', '/things', { json: { name: 'a' } })).status).toBe(201)
    const failing = await things({
      runAfterCreate() {
        throw new Error('broken')
      },
    })
    expect((await failing.send('POST', '/things', { json: { name: 'a' } })).status).toBe(201)
  })

  test('2.6 legacyMode: false by default; true lifts the lists for sort, range, compare and writing', async () => {
    const strict = await things()
    expect((await strict.list('?sort=-size')).error).toBe("Field 'size' is not sortable.")
    const legacy = await things({ legacyMode: true, allowedFields: ['name'] })
    expect(names(await legacy.list('?sort=-size'))).toEqual(['n002', 'n001', 'n000'])
    expect(names(await legacy.list('?rangeField=size&range=2-'))).toEqual(['n002'])
    expect(names(await legacy.list('?compareField=size&compareValue=1'))).toEqual(['n001'])
    const { record } = await legacy.send('POST', '/things', {
      json: { name: 'a', note: 'n', _id: 'x', $set: 1 },
    })
    expect(record).toMatchObject({ name: 'a', note: 'n' })
    expect(record._id).toMatch(/^[0-9a-f]{24}$/)
  })

  test('2.6 scope · 2.6 cache · 2.6 upload: off by default', async () => {
    const { send } = await things()
    const answer = await send('GET', '/things')
    expect(answer.headers.has('x-cache')).toBe(false)
    const form = { body: new FormData() }
    expect((await send('POST', '/things', form)).status).toBe(415)
  })
})
