import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'

/** Columns with values that JavaScript doesn't have, or prints in another way: their types, and a value of each. */
const columns = {
  big: ['bigint', '9007199254740993'],
  decimal: ['numeric', '0.1234567890123456789'],
  price: ['numeric(12, 2)', '1.50'],
  single: ['real', '0.1'],
  float: ['double precision', '0.30000000000000004'],
  parsed: ['jsonb', `'{"id": 9007199254740993, "b": 1, "a": [1.0]}'`],
  written: ['json', `'{ "b": 1,  "a": 1e2 }'`],
  zoned: ['timestamptz', `'2024-02-29 12:34:56.123456+01'`],
  local: ['timestamp', `'2024-02-29 12:34:56.123456'`],
  day: ['date', `'1040-05-01'`],
  fixed: ['character(8)', `'ab'`],
  texts: ['text[]', `'{"a",NULL}'`],
} as const

const number = z.number().nullish()
const mixed = z.record(z.string(), z.unknown()).nullish()
const fields = {
  name: z.string(),
  big: z.number().int().nullish(),
  decimal: number,
  price: number,
  single: number,
  float: number,
  parsed: mixed,
  written: mixed,
  zoned: z.date().nullish(),
  local: z.date().nullish(),
  day: z.date().nullish(),
  fixed: z.string().nullish(),
  texts: z.array(z.string().nullable()).nullish(),
}
const options = { fields, table: 'things', columns: { _id: 'id' }, id: 'integer' } as const
const Thing = defineModel('ExpectedThing', options)
const Checked = defineModel('CheckedThing', {
  ...options,
  fields: z.object(fields).refine(({ name }) => name !== 'bad', { path: ['name'] }),
})

await withService('postgres', ({ url }) => {
  const space = `expected_${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const logger = { debug() {}, info() {}, warn() {}, error: console.error }
  const app = createApp({ store: postgresStore({ url, schema: space }), logger })
  const routed = { middlewares: [], allowedFields: ['name'] } as const
  app.mount('/things', createRouter({ model: Thing, ...routed }))
  app.mount('/checked', createRouter({ model: Checked, ...routed }))

  beforeAll(async () => {
    const declared = Object.entries(columns).map(([name, [type]]) => `${name} ${type}`)
    await sql`CREATE SCHEMA ${sql(space)}`
    await sql.unsafe(
      `SET search_path TO "${space}"; CREATE TABLE things (id serial PRIMARY KEY, name text NOT NULL, ${declared})`,
    )
    await app.ready()
  })
  afterAll(async () => {
    await app.close()
    await sql`DROP SCHEMA ${sql(space)} CASCADE`
    await sql.end()
  })

  const call = (method: string, path: string, etag: string, json?: unknown) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(etag && { 'if-match': etag }) },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      }),
    )

  describe('a record with a value that JavaScript does not have', () => {
    it.each(Object.entries(columns))('%s is written as it was read', async (name, [, value]) => {
      const [row] = await sql.unsafe(
        `INSERT INTO things (name, ${name}) VALUES ('a', ${value}) RETURNING id`,
      )
      const path = `/things/${row?.id}`
      const stored = () =>
        sql.unsafe(`SELECT ${name}::text AS text FROM things WHERE id = ${row?.id}`)
      const before = await stored()
      const etagOf = async () => (await call('GET', path, '')).headers.get('etag') ?? ''
      const seen = await etagOf()
      expect((await call('PATCH', path, seen, { name: 'b' })).status).toBe(200)
      expect((await call('PATCH', path, seen, { name: 'c' })).status).toBe(412)
      expect((await call('PATCH', `/checked/${row?.id}`, '', { name: 'd' })).status).toBe(200)
      expect(await stored()).toEqual(before)
      expect((await call('DELETE', path, await etagOf())).status).toBe(200)
      expect(await stored()).toEqual([])
    })
  })
})
