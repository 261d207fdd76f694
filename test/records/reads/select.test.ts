import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type Fields, type OnGet } from '../../../src/index.ts'
import { service } from '../service.ts'
import { watched } from '../watched.ts'

const fields = {
  name: z.string(),
  size: z.number().optional(),
  place: z.object({ city: z.string(), zip: z.string(), pin: z.string().optional() }).optional(),
  stops: z.array(z.object({ km: z.number(), pin: z.string().optional() })).optional(),
  secret: z.string().optional(),
}
const hidden = ['secret', 'place.pin', 'stops.pin'] as const
const Plain = defineModel('SelectPlain', { fields, hidden, timestamps: true })
const seen: Fields[] = []
const Shown = defineModel('SelectShown', {
  fields,
  hidden,
  output: (record) => {
    seen.push(record as unknown as Fields)
    return { ...record, shown: true }
  },
})

const VALUES = {
  name: 'a',
  size: 1,
  place: { city: 'Oslo', zip: '0150', pin: 'unseen' },
  stops: [{ km: 1, pin: 'unseen' }, { km: 2 }],
  secret: 'unseen',
}
const VISIBLE = {
  name: 'a',
  size: 1,
  place: { city: 'Oslo', zip: '0150' },
  stops: [{ km: 1 }, { km: 2 }],
}

/** Every way to read the one record: the list by GET, by QUERY and by page, the record, and the answer of a PATCH. */
async function reads(model: typeof Plain | typeof Shown, select?: unknown, lean = false) {
  const store = watched(sqliteStore())
  const { app, send } = service({ store })
  const onGet = (() => ({ select })) as OnGet
  const options = { model, allowedFields: ['name'] as const, lean, onGet }
  app.mount('/things', createRouter(options))
  const stored = await app.store.collection(model).insert(VALUES)
  const path = `/things/${stored._id}`
  const answers = [
    await send('GET', '/things'),
    await send('QUERY', '/things', { json: {} }),
    await send('GET', '/things?page=1&pageSize=1'),
    await send('GET', path),
    await send('PATCH', path, { json: { name: 'a' } }),
  ]
  const records = answers.flatMap(({ body }) => [body.data].flat() as Fields[])
  return { id: stored._id, answers, records }
}

describe('2.6 onGet, select', () => {
  test.each<readonly [select: unknown, shown: Fields]>([
    [['name'], { name: 'a' }],
    ['name size', { name: 'a', size: 1 }],
    [['place'], { place: VISIBLE.place }],
    [['place.city'], { place: { city: 'Oslo' } }],
    [['place.city', 'name'], { name: 'a', place: { city: 'Oslo' } }],
    [['stops.km'], { stops: VISIBLE.stops }],
    [['stops'], { stops: VISIBLE.stops }],
    [['secret'], {}],
    [['place.pin'], {}],
    [['name', 'secret', 'place.pin', 'stops.pin'], { name: 'a' }],
    [['nothing'], {}],
    [['name', '__proto__', 'constructor', 'toString'], { name: 'a' }],
    [['-name', '-size'], { place: VISIBLE.place, stops: VISIBLE.stops }],
    [['-place.zip', '-stops'], { name: 'a', size: 1, place: { city: 'Oslo' } }],
    [['-_id', '-stops', '-place'], { name: 'a', size: 1 }],
    [['-secret'], VISIBLE],
    [[], VISIBLE],
    ['', VISIBLE],
    [undefined, VISIBLE],
  ])(
    'the select %j shows the same on every read, and _id is always there',
    async (select, shown) => {
      const { id, answers, records } = await reads(Shown, select)
      expect(records).toEqual(Array(5).fill({ _id: id, ...shown, shown: true }))
      for (const { text } of answers) expect(text).not.toContain('unseen')
      const plain = await reads(Plain, select)
      const dates = ['createdAt', 'updatedAt']
      for (const record of plain.records) {
        const rest = Object.entries(record).filter(([key]) => !dates.includes(key))
        expect(Object.fromEntries(rest)).toEqual({ _id: plain.id, ...shown })
      }
      for (const { text } of plain.answers) expect(text).not.toContain('unseen')
    },
  )
})

describe('design, Model, hidden and output', () => {
  test('2.6 hidden field: output is never handed what is hidden', async () => {
    seen.length = 0
    await reads(Shown)
    expect(seen.length).toBeGreaterThanOrEqual(5)
    expect(JSON.stringify(seen)).not.toContain('unseen')
  })

  test('2.6 lean: skips output, not what hides', async () => {
    seen.length = 0
    const { id, records, answers } = await reads(Shown, undefined, true)
    expect(records).toEqual(Array(5).fill({ _id: id, ...VISIBLE }))
    for (const { text } of answers) expect(text).not.toContain('unseen')
    expect(seen).toEqual([])
  })

  test('each app is told of an unknown name, also where apps share the hook', async () => {
    const onGet: OnGet<object> = () => ({ select: 'nope' })
    for (const { app, send, log } of [service(), service()]) {
      app.mount('/things', createRouter({ model: Plain, onGet, allowedFields: [] }))
      await send('GET', '/things')
      await send('GET', '/things')
      expect(log.text.split('names \\"nope\\"')).toHaveLength(2)
    }
  })

  test('2.6 hidden field: no list option reaches it, not even one of its siblings’ names', async () => {
    const { app, send } = service()
    const lists = ['name', 'size', 'place.city'] as const
    app.mount(
      '/things',
      createRouter({ model: Plain, query: lists, search: ['name'], allowedFields: [] }),
    )
    await app.store.collection(Plain).insert(VALUES)
    const refused = async (path: string, error: string) =>
      expect((await send('GET', path)).body.error).toBe(error)
    for (const field of hidden) {
      await refused(`/things?sort=${field}`, `Field '${field}' is not sortable.`)
      const filterable = `Field '${field}' is not filterable.`
      await refused(`/things?rangeField=${field}&range=1-2`, filterable)
      await refused(`/things?compareField=${field}&compareValue=unseen`, filterable)
      // An unlisted equality is ignored, so it tells nothing.
      expect((await send('GET', `/things?${field}=zzz`)).records).toHaveLength(1)
    }
    expect((await send('GET', '/things?s=unseen')).records).toEqual([])
  })
})
