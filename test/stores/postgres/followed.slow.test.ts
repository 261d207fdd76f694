import { createCollection } from '@tanstack/db'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { fieldgateCollection } from '../../../adapters/clients/tanstack-db.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createClient } from '../../../src/client/index.ts'
import { createApp, createRouter, defineModel, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'

const Land = defineModel('FollowedLand', {
  fields: { name: z.string() },
  table: 'land',
  columns: { _id: 'id' },
  id: 'integer',
})
const Town = defineModel('FollowedTown', {
  fields: { name: z.string(), land: ref('FollowedLand').optional() },
  table: 'town',
  columns: { _id: 'id' },
  id: 'integer',
  changes: true,
})

await withService('postgres', ({ url }) => {
  const space = `followed_${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const logger = { debug() {}, info() {}, warn() {}, error: console.error }
  const app = createApp({ store: postgresStore({ url, schema: space }), logger })
    .mount('/lands', createRouter({ model: Land, middlewares: [], allowedFields: [] }))
    .mount(
      '/towns',
      createRouter({
        model: Town,
        middlewares: [],
        allowedFields: ['name', 'land'],
        sortableFields: ['_id', 'name', 'land'],
        live: true,
      }),
    )
  const api = createClient<typeof app>('http://localhost', {
    fetch: (input, init) => app.handle(new Request(input, init)),
  })

  beforeAll(async () => {
    await sql`CREATE SCHEMA ${sql(space)}`
    await sql`CREATE TABLE ${sql(space)}.land (id serial PRIMARY KEY, name text NOT NULL)`
    await sql`CREATE TABLE ${sql(space)}.town (id serial PRIMARY KEY, name text NOT NULL, land int)`
    await sql`INSERT INTO ${sql(space)}.land (name) SELECT 'a' FROM generate_series(1, 12)`
    await sql`INSERT INTO ${sql(space)}.town (name, land)
      SELECT 'a', 13 - i FROM generate_series(1, 12) i`
  })
  afterAll(async () => {
    await app.close()
    await sql`DROP SCHEMA ${sql(space)} CASCADE`
    await sql.end()
  })

  describe('a list of an adopted table that is followed', () => {
    it.each(['-_id', 'name', 'land'] as const)(
      'by %s is in the order of the list, as ids that are integers compare',
      async (sort) => {
        const ending = new AbortController()
        onTestFinished(() => ending.abort())
        const onChange = vi.fn()
        void api('/towns').live({ sort }, { onChange, signal: ending.signal })
        const collection = createCollection(fieldgateCollection({ api: api('/towns'), sort }))
        onTestFinished(() => collection.cleanup())
        await collection.preload()
        const listed = await api('/towns').list({ sort })
        const ids = (listed.ok ? listed.data : []).map(({ _id }) => _id)
        expect(ids.length).toBeGreaterThan(11)
        expect(collection.toArray.map(({ _id }) => _id)).toEqual(ids)
        await expect
          .poll(() => onChange.mock.lastCall?.[0].map(({ _id }: { _id: string }) => _id))
          .toEqual(ids)
      },
    )

    it('has what is written later in its place', async () => {
      const ending = new AbortController()
      onTestFinished(() => ending.abort())
      const onChange = vi.fn()
      void api('/towns').live({ sort: '-_id' }, { onChange, signal: ending.signal })
      await expect.poll(() => onChange.mock.lastCall?.[0].length).toBe(12)
      await api('/towns').create({ name: 'b' })
      await expect.poll(() => onChange.mock.lastCall?.[0][0]).toMatchObject({ _id: '13' })
    })
  })
})
