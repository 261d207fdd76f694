import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineModel, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

await withService('postgres', ({ url }) => {
  const { run, serve } = foreignTables(url)

  describe('keys of an adopted table', () => {
    it('come from the default of their domain', async () => {
      await run(`
        CREATE SEQUENCE codes;
        CREATE DOMAIN code AS text DEFAULT 'k' || nextval('codes') CHECK (value ~ '^k');
        CREATE DOMAIN own_code AS code NOT NULL;
        CREATE TABLE coded (id own_code PRIMARY KEY, name text)`)
      const { call } = await serve('coded', { name: z.string() }, { definition: { id: 'text' } })
      const made = await call('POST', '/m', { name: 'a' })
      expect(made).toMatchObject({ status: 201, data: { _id: 'k1', name: 'a' } })
    })

    it('reach as far as a bigint does', async () => {
      const [most, least, long] = [
        '9223372036854775807',
        '-9223372036854775808',
        '1234567890123456789',
      ]
      await run(`
        CREATE TABLE snow (id bigint PRIMARY KEY, name text);
        INSERT INTO snow VALUES (${most}, 'most'), (${least}, 'least'), (${long}, 'long');
        CREATE TABLE flake (id bigint PRIMARY KEY, snow bigint REFERENCES snow);
        INSERT INTO flake VALUES (1, ${long})`)
      const Snow = defineModel('Snow', {
        fields: { name: z.string() },
        ...{ table: 'snow', columns: { _id: 'id' }, id: 'integer' },
      })
      const router = { query: ['snow'], onGet: () => ({ populate: ['snow'] }) }
      const flakes = await serve(
        'flake',
        { snow: ref('Snow') },
        { router, models: [Snow] as never },
      )
      const populated = { _id: '1', snow: { _id: long, name: 'long' } }
      expect((await flakes.get(`/m?snow=${long}`)).data).toEqual([populated])
      expect((await flakes.get('/m/1')).data).toEqual(populated)

      const { call, get } = await serve('snow', { name: z.string() })
      for (const id of [most, least, long]) {
        expect((await get(`/m/${id}`)).data._id).toBe(id)
        expect((await call('PATCH', `/m/${id}`, { name: 'new' })).data).toEqual({
          _id: id,
          name: 'new',
        })
      }
      expect((await flakes.call('PATCH', '/m/1', { snow: most })).data.snow._id).toBe(most)
      expect((await call('DELETE', `/m/${long}`)).status).toBe(200)
      expect((await get('/m/9223372036854775808')).status).toBe(400)
    })
  })

  describe('strings of an adopted table', () => {
    it('are compared exactly, whatever the column takes for equal', async () => {
      await run(`
        CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE tag (id int PRIMARY KEY, name text COLLATE loose NOT NULL, code char(3) COLLATE loose NOT NULL);
        INSERT INTO tag SELECT g, name, name
          FROM generate_series(1, 12) g, LATERAL (SELECT (ARRAY['ABC', 'abc', 'Abc'])[g % 3 + 1] AS name) named;
        CREATE TABLE loose_code (id int PRIMARY KEY DEFAULT 1, name text COLLATE loose UNIQUE)`)
      const fields = { name: z.string(), code: z.string() }
      const sortableFields = ['name', 'code']
      const router = { pagination: 'cursor', sortableFields, search: ['name'] }
      const { get, pages } = await serve('tag', fields, { router: router as object })
      const inOrder = ['3', '6', '9', '12', '2', '5', '8', '11', '1', '4', '7', '10']
      for (const field of sortableFields) {
        const found = await get(`/m?${field}=Abc`)
        expect(found.data.map(({ _id }: { _id: string }) => _id).sort()).toEqual([
          '11',
          '2',
          '5',
          '8',
        ])
        expect(await pages(`sort=${field}&pageSize=3`)).toEqual(inOrder)
      }
      expect((await get('/m?s=aBC')).data).toHaveLength(12)
      const { call } = await serve(
        'loose_code',
        { name: z.string() },
        { definition: { unique: ['name'] } },
      )
      expect((await call('POST', '/m', { name: 'a' })).status).toBe(201)
      expect((await call('POST', '/m', { name: 'A' })).status).toBe(409)
    })

    it('and numbers may have the type of a domain', async () => {
      await run(`
        CREATE DOMAIN small AS numeric(6, 2);
        CREATE DOMAIN positive AS small CHECK (value > 0);
        CREATE DOMAIN email AS text CHECK (value ~ '@');
        CREATE DOMAIN day AS date;
        CREATE DOMAIN words AS text[];
        CREATE TABLE domains (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, price positive, email email, day day, words words)`)
      const fields = {
        price: z.number(),
        email: z.string(),
        day: z.date(),
        words: z.array(z.string()),
      }
      const { call, get } = await serve('domains', fields)
      const record = {
        price: 1.5,
        email: 'a@x',
        day: '2020-01-02T00:00:00.000Z',
        words: ['a', 'b'],
      }
      expect((await call('POST', '/m', record)).status).toBe(201)
      for (const query of ['price=1.5', 'email=a@x', 'day=2020-01-02', 'words=b']) {
        expect((await get(`/m?${query}`)).data).toEqual([{ _id: '1', ...record }])
      }
      const changes = { price: 2.25, email: 'b@x', words: ['c'] }
      expect((await call('PATCH', '/m/1', changes)).data).toMatchObject(changes)
      expect((await call('PATCH', '/m/1', { price: -1 })).status).toBe(400)
      expect((await call('PATCH', '/m/1', { email: 'none' })).status).toBe(400)
    })
  })

  describe('arrays of an adopted table', () => {
    it('are found by their dates', async () => {
      await run(`
        CREATE TABLE days (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, zoned timestamptz[], plain timestamp[], days date[]);
        INSERT INTO days (zoned, plain, days) VALUES
          ('{2020-01-01 00:00:00.123456+00,NULL,infinity}', '{2020-01-01 00:00:00.1239}', '{2020-01-01,infinity,-infinity,0044-03-15 BC,20000-01-01,5874897-01-01}'),
          ('{}', NULL, NULL)`)
      const dates = z.array(z.date().nullable()).nullish()
      const [first, last] = ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']
      const { call, get } = await serve('days', { zoned: dates, plain: dates, days: dates })
      const record = {
        _id: '1',
        zoned: ['2020-01-01T00:00:00.123Z', null, '9999-12-31T23:59:59.999Z'],
        plain: ['2020-01-01T00:00:00.123Z'],
        days: ['2020-01-01T00:00:00.000Z', last, first, first, last, last],
      }
      expect((await get('/m')).data).toEqual([
        record,
        { _id: '2', zoned: [], plain: null, days: null },
      ])
      for (const query of [
        'zoned=2020-01-01T00:00:00.123Z',
        'plain=2020-01-01T00:00:00.123Z',
        'days=2020-01-01',
      ]) {
        expect((await get(`/m?${query}`)).data).toEqual([record])
      }
      const day = '2021-02-03T00:00:00.000Z'
      const written = { zoned: [day], plain: [day, null], days: [day] }
      expect((await call('POST', '/m', written)).data).toMatchObject(written)
      expect((await call('PATCH', '/m/2', written)).data).toMatchObject(written)
      for (const field of Object.keys(written)) {
        expect((await get(`/m?${field}=2021-02-03`)).data).toHaveLength(2)
      }
    })

    it('have null for what is no number in JSON, as a number has', async () => {
      await run(`
        CREATE TABLE sums (id int PRIMARY KEY, single double precision, r real[], d double precision[], n numeric(9, 2)[]);
        INSERT INTO sums VALUES
          (1, 'NaN', '{NaN,0.5}', '{Infinity,-Infinity,1}', '{{NaN,1.5},{2,NULL}}'), (2, 1, '{}', NULL, NULL)`)
      const numbers = z.array(z.number().nullable()).nullish()
      const fields = {
        single: z.number().nullish(),
        r: numbers,
        d: numbers,
        n: z.array(numbers).nullish(),
      }
      const { get } = await serve('sums', fields, { router: { query: ['r', 'd'] } as object })
      const first = {
        _id: '1',
        single: null,
        r: [null, 0.5],
        d: [null, null, 1],
        n: [
          [null, 1.5],
          [2, null],
        ],
      }
      expect((await get('/m')).data).toEqual([
        first,
        { _id: '2', single: 1, r: [], d: null, n: null },
      ])
      for (const query of ['r=0.5', 'd=1']) expect((await get(`/m?${query}`)).data).toEqual([first])
    })

    it('are changed as they are created: of several dimensions, of ids, of JSON', async () => {
      await run(`
        CREATE TABLE grids (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, grid int[][], friends bigint[], objects jsonb[], tags text[])`)
      const Friend = defineModel('Friend', {
        fields: { name: z.string() },
        ...{ table: 'snow', columns: { _id: 'id' }, id: 'integer' },
      })
      const fields = {
        grid: z.array(z.array(z.int())),
        friends: z.array(ref('Friend')),
        objects: z.array(z.object({ a: z.string() })),
        tags: z.array(z.string().nullable()),
      }
      const router = { query: ['friends', 'tags', 'objects.a'] }
      const { call, get } = await serve('grids', fields, { router, models: [Friend] as never })
      const record = {
        grid: [
          [1, 2],
          [3, 4],
        ],
        friends: ['1234567890123456789'],
        objects: [{ a: '{"' }],
        tags: ['NULL', null, '{","}'],
      }
      expect((await call('POST', '/m', record)).data).toEqual({ _id: '1', ...record })
      expect((await get('/m/1')).data).toEqual({ _id: '1', ...record })
      const changes = {
        grid: [[5, 6]],
        friends: ['7', '8'],
        objects: [{ a: 'x' }, { a: 'y' }],
        tags: [],
      }
      expect((await call('PATCH', '/m/1', changes)).data).toEqual({ _id: '1', ...changes })
      for (const query of ['friends=8', 'objects.a=y']) {
        expect((await get(`/m?${query}`)).data).toHaveLength(1)
      }
      expect((await call('PATCH', '/m/1', { grid: [[1], [2, 3]] })).status).toBe(400)
    })
  })
})
