import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel, type Model, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'

/** A schema as somebody else would have made it. */
const STRANGE = `
  CREATE TYPE rating AS ENUM ('G', 'PG', 'R');
  CREATE TABLE country (
    country_id serial PRIMARY KEY,
    "Name" varchar(50) NOT NULL UNIQUE,
    "order" smallint CHECK ("order" >= 0),
    last_update timestamp with time zone NOT NULL DEFAULT now()
  );
  CREATE TABLE city (
    city_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    city text NOT NULL,
    country_id integer NOT NULL REFERENCES country ON DELETE RESTRICT,
    pop bigint,
    area numeric(10, 2),
    founded date,
    seen timestamp without time zone,
    tags text[],
    rated rating DEFAULT 'G',
    extra json,
    UNIQUE (country_id, city)
  );
  CREATE INDEX ON city (pop);
  CREATE TABLE "Person" (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    "userName" character(8) NOT NULL
  );
  CREATE VIEW big AS SELECT * FROM city WHERE pop > 1000000;
  INSERT INTO country ("Name", "order") VALUES ('Norge', 2), ('Österreich', 1), ('ålesund', NULL);
  INSERT INTO city (city, country_id, pop, area, founded, seen, tags, rated, extra) VALUES
    ('Oslo', 1, 700000, 480.75, '1040-05-01', '2024-02-29 12:34:56.789123', '{fjord,"a \\"b\\""}', 'PG', '{"b": 1, "a": [2]}'),
    ('Wien', 2, 2000000, 414.78, NULL, NULL, '{}', 'R', NULL),
    ('Graz', 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
`

const Country = defineModel('AdoptedCountry', {
  fields: { name: z.string(), order: z.number().int().nullable() },
  unique: ['name'],
  table: 'country',
  columns: { _id: 'country_id', name: 'Name' },
  id: 'integer',
})

const fields = {
  name: z.string(),
  country: ref('AdoptedCountry'),
  population: z.number().int().nullish(),
  area: z.number().optional(),
  founded: z.date().nullable(),
  seen: z.date().optional(),
  tags: z.array(z.string()).optional(),
  rated: z.enum(['G', 'PG', 'R']).optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
}
const columns = { _id: 'city_id', name: 'city', country: 'country_id', population: 'pop' }
const City = defineModel('AdoptedCity', {
  fields,
  unique: [['country', 'name']],
  indexes: ['-population', 'name'],
  table: 'city',
  columns,
  id: 'integer',
})

await withService('postgres', ({ url }) => {
  const space = `adopted_${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const warnings: string[] = []
  const app = createApp({
    store: postgresStore({ url, schema: space }),
    logger: {
      debug() {},
      info() {},
      warn: (message) => warnings.push(message),
      error: console.error,
    },
  })
  const cities = createRouter({
    model: City,
    middlewares: [],
    query: ['name', 'country', 'population', 'area', 'founded', 'seen', 'tags', 'rated'],
    search: ['name', 'country.name'],
    sortableFields: ['name', 'population', 'rated', 'founded'],
    allowedFields: Object.keys(fields) as never,
    onGet: (request: { query: Record<string, unknown> }) =>
      request.query.with ? { populate: ['country'] } : {},
  } as never)
  app.mount('/cities', cities)
  app.mount(
    '/feed',
    createRouter({
      model: City,
      middlewares: [],
      pagination: 'cursor',
      sortableFields: ['population'],
    } as never),
  )
  app.mount(
    '/countries',
    createRouter({
      model: Country,
      middlewares: [],
      orderBy: 'name',
      allowedFields: ['name', 'order'],
    }),
  )

  beforeAll(async () => {
    await sql`CREATE SCHEMA ${sql(space)}`
    await sql.unsafe(`SET search_path TO "${space}", public; ${STRANGE}`)
    await app.ready()
  })
  afterAll(async () => {
    await app.close()
    await sql`DROP SCHEMA ${sql(space)} CASCADE`
    await sql.end()
  })

  async function call(method: string, path: string, json?: unknown) {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        ...(json !== undefined && {
          body: JSON.stringify(json),
          headers: { 'content-type': 'application/json' },
        }),
      }),
    )
    return { status: response.status, body: JSON.parse((await response.text()) || '{}') }
  }
  const names = async (query: string) =>
    (await call('GET', `/cities?${query}`)).body.data
      .map(({ name }: { name: string }) => name)
      .join()

  describe('a schema of another program', () => {
    it('is read with its own types, keys and names', async () => {
      expect((await call('GET', '/cities/1')).body.data).toEqual({
        _id: '1',
        name: 'Oslo',
        country: '1',
        population: 700000,
        area: 480.75,
        founded: '1040-05-01T00:00:00.000Z',
        seen: '2024-02-29T12:34:56.789Z',
        tags: ['fjord', 'a "b"'],
        rated: 'PG',
        extra: { a: [2], b: 1 },
      })
      expect((await call('GET', '/cities/3')).body.data).toEqual({
        ...{ _id: '3', name: 'Graz', country: '2', population: null, founded: null },
      })
      expect((await call('GET', '/countries')).body.data.map(({ name }: never) => name)).toEqual([
        'Norge',
        'Österreich',
        'ålesund',
      ])
    })

    it('is filtered, sorted, searched and paged', async () => {
      expect(await names('country=2&sort=-name')).toBe('Wien,Graz')
      expect(await names('sort=population')).toBe('Graz,Oslo,Wien')
      expect(await names('sort=-rated')).toBe('Wien,Oslo,Graz')
      expect(await names('population=2000000')).toBe('Wien')
      expect(await names('tags=fjord')).toBe('Oslo')
      expect(await names('rated=R')).toBe('Wien')
      expect(await names('seen=2024-02-29T12:34:56.789Z')).toBe('Oslo')
      expect(await names('founded=1040-05-01')).toBe('Oslo')
      expect(await names('area=480.75')).toBe('Oslo')
      expect(await names('s=WIE')).toBe('Wien')
      expect(await names('s=österr')).toBe('Wien,Graz')
      const first = await call('GET', '/feed?pageSize=2&sort=-population')
      const { nextCursor } = first.body.pagination
      const rest = await call('GET', `/feed?cursor=${nextCursor}&pageSize=2&sort=-population`)
      const all = [...first.body.data, ...rest.body.data]
      expect(all.map(({ name }) => name)).toEqual(['Wien', 'Oslo', 'Graz'])
    })

    it('is written: keys and defaults come from the database', async () => {
      const made = await call('POST', '/cities', {
        ...{ name: 'Bergen', country: '1', population: 290_000, founded: null },
        ...{ tags: ['rain', '{}'], extra: { z: { y: null } } },
      })
      expect(made.status).toBe(201)
      expect(made.body.data._id).toBe('4')
      const stored = await sql.unsafe(`SELECT * FROM "${space}".city WHERE city_id = 4`)
      expect(stored[0]).toMatchObject({ city: 'Bergen', pop: '290000', rated: 'G', founded: null })
      expect(stored[0]?.tags).toEqual(['rain', '{}'])
      const changes = { tags: ['sun'], rated: 'R', seen: '2020-01-02T03:04:05.006Z', area: 1.5 }
      expect((await call('PATCH', '/cities/4', changes)).body.data).toMatchObject(changes)
      expect((await call('DELETE', '/cities/4')).status).toBe(200)
      expect((await call('GET', '/cities/4')).status).toBe(404)
      expect((await call('GET', '/cities/none')).status).toBe(400)
    })

    it('names the fields of a unique constraint of its own', async () => {
      const clash = await call('POST', '/cities', { name: 'Oslo', country: '1', founded: null })
      expect([clash.status, Object.keys(clash.body.fields)]).toEqual([409, ['country', 'name']])
    })

    it('refuses what the rules of the database refuse, and changes nothing', async () => {
      const before = await sql.unsafe(`SELECT count(*) FROM "${space}".city`)
      const city = { name: 'Nowhere', country: '999999', founded: null }
      const refusals = [
        ['POST', '/cities', city, 400, { country: 'Does not exist.' }],
        ['PATCH', '/cities/1', { country: '999999' }, 400, { country: 'Does not exist.' }],
        ['POST', '/countries', { name: 'x'.repeat(51), order: 1 }, 400, {}],
        ['POST', '/countries', { name: 'x', order: 40_000 }, 400, {}],
        ['PATCH', '/countries/1', { order: -1 }, 400, { order: 'Invalid value.' }],
        ['DELETE', '/countries/1', undefined, 409, undefined],
      ] as const
      for (const [method, path, body, status, fields] of refusals) {
        const seen = await call(method, path, body)
        expect([method, path, seen.status, seen.body.fields]).toEqual([
          method,
          path,
          status,
          fields,
        ])
      }
      const referenced = await call('DELETE', '/countries/1')
      expect(referenced.body.error).toBe('Entry is still referenced.')
      expect(await sql.unsafe(`SELECT count(*) FROM "${space}".city`)).toEqual(before)
    })

    it('enforces references, with a single connection too', async () => {
      const store = postgresStore({ url, schema: space, max: 1 })
      const other = createApp({ store, logger: { debug() {}, info() {}, warn() {}, error() {} } })
      onTestFinished(() => other.close())
      const Town = defineModel('AdoptedTown', {
        fields: { name: z.string(), country: ref('AdoptedCountry', { onDelete: 'restrict' }) },
        table: 'city',
        columns: { _id: 'city_id', name: 'city', country: 'country_id' },
        id: 'integer',
      })
      const [towns, countries] = [other.store.collection(Town), other.store.collection(Country)]
      const { _id: country } = await countries.insert({ name: 'Atlantis', order: null })
      const town = await towns.insert({ name: 'Poseidonis', country })
      const lost = towns.insert({ name: 'Nowhere', country: '999999' })
      await expect(lost).rejects.toMatchObject({ status: 400 })
      await expect(countries.delete(country)).rejects.toMatchObject({ status: 409 })
      expect(await towns.delete(town._id)).toBe(true)
      expect(await countries.delete(country)).toBe(true)
    })

    it('is not altered; what is slow is told with the line to run', async () => {
      const rows = await sql`
        SELECT count(*) FROM pg_attribute WHERE attrelid = ${`"${space}".city`}::regclass AND attnum > 0`
      expect(Number(rows[0]?.count)).toBe(10)
      const told = warnings.filter((line) => line.includes('CREATE INDEX'))
      expect(told.map((line) => line.replaceAll(`"${space}".`, ''))).toEqual([
        // The index that is there has its NULLs at the other end.
        expect.stringContaining('Run: CREATE INDEX CONCURRENTLY ON "city" ("pop" DESC NULLS LAST)'),
        expect.stringContaining('Run: CREATE INDEX CONCURRENTLY ON "city" (("city" COLLATE "C"))'),
        expect.stringContaining('a search in \'name\' reads all of "city"'),
        expect.stringContaining('a search in \'name\' reads all of "country"'),
      ])
    })

    it('must have what the model demands', async () => {
      const started = (definition: object) => {
        const store = postgresStore({ url, schema: space })
        const model = defineModel('AdoptedWrong', definition as never) as Model
        const name = model.collection
        const schema = { ...model, name, searchable: [] }
        return store.prepare([schema]).finally(() => store.close())
      }
      const base = {
        fields: { userName: z.string() },
        table: 'Person',
        id: 'uuid',
        columns: { _id: 'id' },
      }
      await started(base)
      await expect(started({ ...base, table: 'none' })).rejects.toThrow('does not exist')
      await expect(started({ ...base, fields: { age: z.number() } })).rejects.toThrow(
        'has no column "age" for \'age\'. Run: ALTER TABLE',
      )
      await expect(started({ ...base, unique: ['userName'] })).rejects.toThrow(
        'does not keep "userName" unique. Run: ALTER TABLE',
      )
      await expect(started({ ...base, fields: { userName: z.number() } })).rejects.toThrow(
        "has the type character(8), which cannot hold the model's number",
      )
    })
  })
})
