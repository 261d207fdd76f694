import { expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { memoryStore } from '../../../examples/memory-store/store.ts'
import { createRouter, defineModel, ref } from '../../../src/index.ts'
import { album, Photo } from '../../uploads/album.ts'
import { form, png } from '../../uploads/png.ts'
import { service } from '../service.ts'

defineModel('EffectOwner', { fields: { name: z.string() } })

/** Starts an app whose model has `field` in its fields; rejects as `app.ready()` does. */
function start(field: z.ZodType | object, options = {}): Promise<void> {
  const { app } = service(options)
  const model = defineModel('EffectHolder', { fields: { field } as never })
  app.mount('/holders', createRouter({ model }))
  return app.ready()
}

test.each([
  [
    'a required field',
    () => ref('EffectOwner', { onDelete: 'unset' }),
    /'field' has onDelete: 'unset', but the field is required/,
  ],
  [
    'a required member in a list',
    () => z.array(z.object({ at: ref('EffectOwner', { onDelete: 'unset' }) })),
    /'field.at' has onDelete: 'unset', but the field is required/,
  ],
  [
    'a union',
    () => z.union([ref('EffectOwner', { onDelete: 'cascade' }), z.string()] as never),
    /'field' has onDelete, which works in fields, objects and lists/,
  ],
  [
    'a record',
    () => z.record(z.string(), ref('EffectOwner', { onDelete: 'cascade' })),
    /'field' has onDelete, which works/,
  ],
  [
    'a list of lists',
    () => z.array(z.array(ref('EffectOwner', { onDelete: 'cascade' }))),
    /'field' has onDelete, which works/,
  ],
])('start-up refuses onDelete in %s', async (_, field, message) => {
  await expect((async () => start(field()))()).rejects.toThrow(message)
})

test('an unknown onDelete, or option, is a start-up error', () => {
  expect(() => ref('EffectOwner', { onDelete: 'nothing' as never })).toThrow(
    "ref('EffectOwner'): 'onDelete' must be one of restrict, cascade, unset",
  )
  expect(() => ref('EffectOwner', { onDeleted: 'cascade' } as never)).toThrow(
    "ref('EffectOwner'): unknown option 'onDeleted'",
  )
})

test('a store that cannot write several records in one step is a start-up error', async () => {
  const field = ref('EffectOwner', { onDelete: 'restrict' })
  await expect(start(field, { store: memoryStore() })).rejects.toThrow(
    "Model 'EffectHolder': 'field' has onDelete, but the store 'memory' cannot write several records in one step. Use SQLite, PostgreSQL, D1 or a MongoDB replica set, or remove onDelete.",
  )
  await start(ref('EffectOwner'), { store: memoryStore() })
})

test('an enforced reference has an index, which start-up counts on', async () => {
  const store = sqliteStore()
  let indexes: unknown
  const watched = {
    ...store,
    prepare: (schemas: Parameters<typeof store.prepare>[0]) => {
      indexes = schemas.find(({ name }) => name === 'effectholders')?.indexes
      return store.prepare(schemas)
    },
  }
  await start(ref('EffectOwner', { onDelete: 'cascade' }), { store: watched })
  expect(indexes).toEqual([[{ field: 'field', descending: false }]])
  const { app, log } = service()
  const model = defineModel('EffectListed', {
    fields: { field: ref('EffectOwner', { onDelete: 'cascade' }) },
  })
  app.mount('/listed', createRouter({ model, query: ['field'], allowedFields: [] }))
  await app.ready()
  expect(log.text).not.toContain('no index serves')
})

const City = defineModel('EffectCity', { fields: { name: z.string() } })
const Street = defineModel('EffectStreet', {
  fields: { name: z.string(), city: ref('EffectCity', { onDelete: 'cascade' }) },
})
const Trip = defineModel('EffectTrip', {
  fields: { name: z.string(), city: ref('EffectCity', { onDelete: 'unset' }).optional() },
})

test('a removal clears the caches of every model that it concerns, and is one store call', async () => {
  const calls: string[] = []
  const telemetry = {
    request: (_: unknown, respond: () => Promise<Response>) => respond(),
    storeCall<T>(call: { operation: string; collection: string }, run: () => Promise<T>) {
      if (call.operation === 'write') calls.push(call.collection)
      return run()
    },
  }
  const { app, send } = service({ cache: memoryCache(), telemetry })
  for (const model of [City, Street, Trip]) {
    const allowedFields = Object.keys(model.fields) as never
    app.mount(`/${model.name}`, createRouter({ model: model as never, allowedFields, cache: true }))
  }
  const city = await app.store.collection(City).insert({ name: 'Ur' })
  await app.store.collection(Street).insert({ name: 's', city: city._id })
  await app.store.collection(Trip).insert({ name: 't', city: city._id })
  const lists = () =>
    Promise.all(
      [City, Street, Trip].map(async ({ name }) => (await send('GET', `/${name}`)).records),
    )
  await lists()
  const before = await lists()
  expect(before.map((records) => records.length)).toEqual([1, 1, 1])
  calls.length = 0
  expect((await send('DELETE', `/EffectCity/${city._id}`)).status).toBe(200)
  expect(calls).toEqual(['effectcities effectstreets effecttrips'])
  const [cities, streets, trips] = await lists()
  expect([cities, streets]).toEqual([[], []])
  expect(trips).toEqual([expect.not.objectContaining({ city: city._id })])
})

test('a removal removes the files of the records that go with it', async () => {
  const Album = defineModel('EffectAlbum', { fields: { name: z.string() } })
  const Shot = defineModel('EffectShot', {
    fields: { image: z.string(), album: ref('EffectAlbum', { onDelete: 'cascade' }) },
  })
  const { app, send, upload, keys } = album()
  app.mount('/albums', createRouter({ model: Album, allowedFields: ['name'] }))
  app.mount(
    '/shots',
    createRouter({
      model: Shot,
      allowedFields: ['image', 'album'],
      upload: { fields: [{ name: 'image' }], path: 'shots' },
    }),
  )
  const [one, other] = await Promise.all(
    ['a', 'b'].map(async (name) =>
      String((await send('POST', '/albums', { json: { name } })).record._id),
    ),
  )
  for (const of of [one, one, other]) {
    const { status, text } = await upload('POST', '/shots', form({ album: String(of), image: png }))
    expect(status, text).toBe(201)
  }
  await app.store.collection(Photo).insert({ title: 'not concerned' })
  const before = await keys()
  expect(before).toHaveLength(3)
  expect((await send('DELETE', `/albums/${one}`)).status).toBe(200)
  expect(await keys()).toHaveLength(1)
  // The upload of a write that is refused goes too.
  const refused = await upload('POST', '/shots', form({ album: String(one), image: png }))
  expect([refused.status, refused.body.error]).toEqual([400, 'Invalid value for album.'])
  expect(await keys()).toHaveLength(1)
})
