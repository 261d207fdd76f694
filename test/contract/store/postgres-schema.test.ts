import postgres from 'postgres'
import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, defineModel, type Model } from '../../../src/index.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'

/** The collection of a model with these fields. */
function thing(fields: object, more: object = {}, searchable: string[] = []): CollectionSchema {
  const model = defineModel('Thing', { fields, ...more } as never) as unknown as Model
  return { ...model, name: model.collection, searchable }
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  afterAll(() => sql.end())

  async function columnsOf(schema: string): Promise<string[]> {
    const rows = await sql`
      SELECT attname || ' ' || format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END AS line
      FROM pg_attribute WHERE attrelid = ${`"${schema}".things`}::regclass AND attnum > 0 ORDER BY attnum`
    return rows.map(({ line }) => line)
  }
  async function indexesOf(schema: string): Promise<string[]> {
    const rows = await sql`
      SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE indrelid = ${`"${schema}".things`}::regclass ORDER BY relname`
    return rows.map(({ relname }) => relname)
  }

  describe('tables on PostgreSQL', () => {
    it('have an index for each declared set and order, also where their names would be the same', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const text = z.string().optional()
      const fields = { a: text, b: text, a_and_b: text, price: z.int(), price_desc: z.int() }
      // An index with a plain name keeps it, until another one would have it too.
      await store.prepare([thing(fields, { unique: [['a', 'b']], indexes: ['price_desc'] })])
      const plain = ['things_order_price_desc', 'things_pkey', 'things_unique_a_and_b']
      expect(await indexesOf(schema)).toEqual(plain)

      const both = { unique: [['a', 'b'], 'a_and_b'], indexes: ['-price', 'price_desc'] }
      for (const space of [schema, fresh()]) {
        const other = postgresStore({ url, schema: space })
        const clashing = thing(fields, both)
        await other.prepare([clashing])
        await other.prepare([clashing])
        await other.dropLeftOvers?.([clashing])
        const names = await indexesOf(space)
        expect(names).toHaveLength(5)
        expect(names.filter((name) => plain.includes(name))).toEqual(['things_pkey'])
        const collection = other.collection(clashing)
        await collection.insert({ _id: '1', a: 'x', b: 'y', a_and_b: 'z', price: 1, price_desc: 1 })
        for (const [fieldsTaken, record] of [
          [['a', 'b'], { a: 'x', b: 'y', a_and_b: 'other' }],
          [['a_and_b'], { a: 'other', b: 'y', a_and_b: 'z' }],
        ] as const) {
          const again = collection.insert({ _id: '2', price: 1, price_desc: 1, ...record })
          await expect(again).rejects.toMatchObject({ fields: fieldsTaken })
        }
        await other.close()
      }
      await store.close()
    })

    it('have no fields with the names of the columns that every table has', async () => {
      const store = postgresStore({ url, schema: fresh() })
      for (const name of ['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']) {
        await expect(store.prepare([thing({ [name]: z.string() })])).rejects.toThrow(
          `'things': PostgreSQL reserves the column name '${name}'. Give the field another name`,
        )
      }
      await store.close()
    })

    it('have natural types, NOT NULL where a field is required, and a column of nulls only where it is needed', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const fields = {
        name: z.string(),
        size: z.number().optional(),
        count: z.int().nullable(),
        at: z.date().optional(),
        tags: z.array(z.string()),
      }
      await store.prepare([thing(fields, { timestamps: true })])
      expect(await columnsOf(schema)).toEqual([
        '_id text NOT NULL',
        'name text NOT NULL',
        'size double precision',
        'count bigint',
        'at timestamp(3) with time zone',
        'tags jsonb NOT NULL',
        'createdAt timestamp(3) with time zone NOT NULL',
        'updatedAt timestamp(3) with time zone NOT NULL',
      ])
      await store.prepare([thing({ ...fields, note: z.string().nullish() })])
      expect((await columnsOf(schema)).slice(-2)).toEqual(['note text', '_nulls text[] NOT NULL'])
      await store.close()
    })

    it('grow with the model; what it no longer has stays, and takes records without a value', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const old = thing(
        { name: z.string(), gone: z.number() },
        { unique: ['name'], indexes: ['gone'] },
      )
      await store.prepare([old])
      await store.collection(old).insert({ _id: 'a', name: 'a', gone: 1 })
      const now = thing(
        { name: z.string(), age: z.number() },
        { unique: [['name', 'age']], indexes: ['-age'] },
        ['name'],
      )
      await store.prepare([now])
      await store.collection(now).insert({ _id: 'b', name: 'b', age: 2 })
      expect(await columnsOf(schema)).toEqual([
        '_id text NOT NULL',
        'name text NOT NULL',
        'gone double precision',
        'age double precision',
        '_search_name text',
      ])
      const indexes = [
        'things_order_age_desc',
        'things_pkey',
        'things_search_name',
        'things_unique_name_and_age',
      ]
      const former = ['things_order_gone', 'things_unique_name']
      expect(await indexesOf(schema)).toEqual([...indexes, ...former].sort())
      expect(await store.dropLeftOvers?.([now])).toEqual([
        { collection: 'things', what: "the index 'things_order_gone'" },
        { collection: 'things', what: "the unique index 'things_unique_name'" },
      ])
      expect(await indexesOf(schema)).toEqual(indexes)
      await store.close()
    })

    it('keep the indexes of other versions, and a start tells of them', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const code = z.object({ code: z.string().optional() }).optional()
      const fields = { name: z.string(), info: code }
      const more = { unique: [['info.code', 'name']], indexes: ['-name'] }
      await store.prepare([thing(fields, more, ['name'])])
      const told: string[] = []
      const less = thing(fields)
      await store.prepare([less], (message) => told.push(message))
      const end =
        "If no version needs it any more, 'npx fieldgate backfill <file>' drops it; <file> is the one that exports your app."
      expect(told).toEqual([
        `PostgreSQL: 'things' still has the index 'things_order_name_desc' of another version of the app, which slows down every write. ${end}`,
        `PostgreSQL: 'things' still has the unique index 'things_unique_info.code_and_name' of another version of the app, which refuses a second record with the same info.code, name. ${end}`,
      ])
      const things = store.collection(less)
      await things.insert({ _id: 'a', name: 'a', info: { code: 'x' } })
      const again = things.insert({ _id: 'b', name: 'a', info: { code: 'x' } })
      await expect(again).rejects.toMatchObject({
        name: 'DuplicateKey',
        fields: ['info.code', 'name'],
      })
      await store.close()
    })

    it('keep the values of two versions unique where an index of one has the name of the other', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const versions = [z.string(), z.number()].map((code) => {
        const inside = z.object({ "it's \\ (1)": z.object({ code: code.optional() }) }).optional()
        const fields = { a: z.int().optional(), b: z.int().optional(), a_and_b: z.int().optional() }
        const set = code instanceof z.ZodString ? ['a_and_b'] : [['a', 'b']]
        return thing({ ...fields, in: inside }, { unique: ["in.it's \\ (1).code", ...set] })
      })
      const [texts = thing({}), numbers = thing({})] = versions
      const clash = async (model: CollectionSchema, record: object, fields: string[]) => {
        const again = store.collection(model).insert({ _id: crypto.randomUUID(), ...record })
        await expect(again).rejects.toMatchObject({ name: 'DuplicateKey', fields })
      }
      const holding = (code: unknown) => ({ in: { "it's \\ (1)": { code } } })
      const code = ["in.it's \\ (1).code"]
      await store.prepare([texts])
      await store.prepare([numbers])
      await store.collection(texts).insert({ _id: 'a', ...holding('1'), a_and_b: 1 })
      await store.collection(numbers).insert({ _id: 'b', ...holding(1), a: 1, b: 2 })
      for (const last of [texts, numbers]) {
        await store.prepare([last])
        for (const model of [texts, numbers]) {
          await clash(model, holding('1'), code)
          await clash(model, holding(1), code)
          await clash(model, { a_and_b: 1 }, ['a_and_b'])
          await clash(model, { a: 1, b: 2 }, ['a', 'b'])
        }
      }
      const names = await indexesOf(schema)
      expect(names).toHaveLength(5)
      expect(await store.dropLeftOvers?.([numbers])).toHaveLength(2)
      const told: string[] = []
      await store.prepare([numbers], (message) => told.push(message))
      expect([told, await store.dropLeftOvers?.([numbers])]).toEqual([[], []])
      expect(await indexesOf(schema)).toHaveLength(3)
      await clash(numbers, holding(1), code)
      await clash(numbers, { a: 1, b: 2 }, ['a', 'b'])
      await store.collection(numbers).insert({ _id: 'c', ...holding('1'), a_and_b: 1 })
      await store.close()
    })

    it('name the fields of a conflict, and know their own indexes, whatever the fields are called', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const text = z.string().optional()
      const names = ['a -> b', 'x)=(y', "WHEN 'string'", 'a, b', "it's", '(', 'E', 'DESC', 'ba\\ck']
      const all = Object.fromEntries(names.map((name) => [name, text]))
      const fields = { a: text, b: text, x: text, ...all, in: z.object(all).optional() }
      const inside = names.map((name) => `in.${name}`)
      const sets = [...names, ...inside].map((path) => [path, 'x'])
      const declared = thing(fields, { unique: sets, indexes: [...names, ...inside] })
      await store.prepare([declared])
      const told: string[] = []
      await store.prepare([declared], (message) => told.push(message))
      expect([told, await store.dropLeftOvers?.([declared])]).toEqual([[], []])
      const conflicts = names.flatMap((name): [string, object][] => [
        [name, { [name]: 'v', x: `of ${name}` }],
        [`in.${name}`, { in: { [name]: 'v' }, x: `in ${name}` }],
      ])
      const insert = (model: CollectionSchema, record: object) =>
        store.collection(model).insert({ _id: crypto.randomUUID(), ...record })
      for (const [path, record] of conflicts) {
        await insert(declared, record)
        for (const model of [declared, thing(fields)]) {
          await expect(insert(model, record)).rejects.toMatchObject({ fields: [path, 'x'] })
        }
      }
      await store.close()
    })

    it('have both orders of two versions that give them the same name', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const text = z.string().optional()
      const version = (more: object, t: z.ZodType) =>
        thing(
          { a: text, b: text, a_and_b: text, a_desc: text, in: z.object({ t }).optional() },
          more,
        )
      const before = version({ indexes: ['a_and_b', 'a_desc', 'in.t'] }, text)
      const after = version({ indexes: [['a', 'b'], '-a', 'in.t'] }, z.number().optional())
      await store.prepare([before])
      const first = await indexesOf(schema)
      expect(first).toHaveLength(4)
      for (const model of [after, before, after]) await store.prepare([model])
      expect(await indexesOf(schema)).toHaveLength(7)
      const dropped = await store.dropLeftOvers?.([after])
      const left = first.filter((name) => name !== 'things_pkey')
      expect(dropped?.map(({ what }) => what)).toEqual(left.map((name) => `the index '${name}'`))
      const told: string[] = []
      await store.prepare([after], (message) => told.push(message))
      expect([told, await indexesOf(schema)]).toEqual([[], expect.objectContaining({ length: 4 })])
      await store.close()
    })

    it('compare strings in their indexes by bytes, those of the log too', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const keys = { unique: ['a'], indexes: ['-a'] }
      const logged = { model: 'Thing', keepMs: 1000 }
      await store.prepare([{ ...thing({ a: z.string().max(9) }, keys), logged }])
      const rows = await sql`
        SELECT indexrelid::regclass::text FROM pg_index CROSS JOIN unnest(indcollation) AS used
        JOIN pg_collation ON pg_collation.oid = used JOIN pg_class ON pg_class.oid = indrelid
        WHERE relnamespace = ${`"${schema}"`}::regnamespace AND collname <> 'C'`
      expect(rows).toEqual([])
      await store.close()
    })

    it('lose with a backfill only what the store has made: no index, and no column that something else needs', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const fields = { name: z.string(), note: z.string(), more: z.string() }
      const all = thing(fields, { unique: ['name'], indexes: ['note'] }, ['name', 'note', 'more'])
      await store.prepare([all])
      await store.collection(all).insert({ _id: 'a', name: 'Łódź', note: 'x', more: 'y' })
      const table = sql`${sql(schema)}.things`
      await sql`CREATE INDEX theirs ON ${table} (_search_note)`
      await sql`CREATE UNIQUE INDEX "things_unique_note" ON ${table} (note)`
      await sql`CREATE VIEW ${sql(schema)}.seen AS SELECT _search_more FROM ${table}`
      await sql`ALTER TABLE ${table} ADD COLUMN _search_theirs text, ADD COLUMN _search_lower text GENERATED ALWAYS AS (lower(name)) STORED`
      await sql`CREATE TABLE ${sql(schema)}.others (name text REFERENCES ${table} (name))`

      const now = thing(fields, {}, ['name'])
      await store.prepare([now])
      const silent = thing(fields)
      const order = { collection: 'things', what: "the index 'things_order_note'" }
      expect(await store.dropLeftOvers?.([silent])).toEqual([order])
      expect(await store.dropLeftOvers?.([now])).toEqual([
        { collection: 'things', what: "the search index 'things_search_more'" },
        { collection: 'things', what: "the search index 'things_search_note'" },
      ])
      expect(await store.dropLeftOvers?.([now])).toEqual([])
      expect((await columnsOf(schema)).filter((line) => line.startsWith('_search'))).toEqual([
        '_search_name text',
        '_search_note text',
        '_search_more text',
        '_search_theirs text',
        '_search_lower text',
      ])
      await sql`DROP TABLE ${sql(schema)}.others`
      await sql`DROP VIEW ${sql(schema)}.seen`
      await sql`DROP INDEX ${sql(schema)}.theirs`
      expect(new Set(await store.dropLeftOvers?.([now]))).toEqual(
        new Set([
          { collection: 'things', what: "the unique index 'things_unique_name'" },
          { collection: 'things', what: "the search column '_search_note'" },
          { collection: 'things', what: "the search column '_search_more'" },
        ]),
      )
      expect(await indexesOf(schema)).toEqual([
        'things_pkey',
        'things_search_name',
        'things_unique_note',
      ])
      const search = { op: 'contains', field: 'name', text: 'ŁÓD' } as const
      expect(await store.collection(now).count(search)).toBe(1)
      await store.close()
    })

    it('lose it once if several processes drop it at the same time, while others write', async () => {
      const schema = fresh()
      const stores = Array.from({ length: 3 }, () => postgresStore({ url, schema }))
      const [store] = stores
      const fields = { name: z.string(), note: z.string() }
      await store?.prepare([thing(fields, { unique: ['name'] }, ['name', 'note'])])
      const now = thing(fields, {}, ['name'])
      await Promise.all(stores.map((one) => one.prepare([now])))
      const write = async (at: number) => {
        await stores[at % 3]?.collection(now).insert({ _id: `${at}`, name: `${at}`, note: 'x' })
      }
      await Promise.all([
        ...Array.from({ length: 30 }, (_, at) => write(at)),
        ...stores.map((one) => one.dropLeftOvers?.([now])),
      ])
      expect(await indexesOf(schema)).toEqual(['things_pkey', 'things_search_name'])
      expect(await columnsOf(schema)).not.toContain('_search_note text')
      await Promise.all(stores.map((one) => one.close()))
    })

    it('are not narrowed: a column of another type is refused with the SQL to run', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      await store.prepare([thing({ name: z.string() })])
      await expect(store.prepare([thing({ name: z.number() })])).rejects.toThrow(
        `ALTER TABLE "${schema}"."things" ALTER COLUMN "name" TYPE double precision USING "name"::double precision`,
      )
      await store.close()
    })

    it('keep the indexes of others, and a start tells of them', async () => {
      const schema = fresh()
      const store = postgresStore({ url, schema })
      const model = thing({ name: z.string() })
      await store.prepare([model])
      await sql`CREATE INDEX others ON ${sql(schema)}.things (name)`
      const told: string[] = []
      await store.prepare([model], (message) => told.push(message))
      expect(told).toEqual([
        `PostgreSQL: the index 'others' of 'things' was not created by fieldgate, and slows down every write. If nothing else needs it: DROP INDEX "${schema}"."others"`,
      ])
      expect(await indexesOf(schema)).toContain('others')
      await store.close()
    })

    it('are made once by several processes that start at the same time', async () => {
      const schema = fresh()
      const models = [
        thing({ name: z.string() }, { unique: ['name'] }, ['name']),
        thing({ name: z.string(), age: z.number() }, { unique: ['name', 'age'] }, ['name']),
      ]
      for (const model of models) {
        const stores = Array.from({ length: 6 }, () => postgresStore({ url, schema }))
        await Promise.all(stores.map((store) => store.prepare([model])))
        await Promise.all(stores.map((store) => store.close()))
      }
      expect(await indexesOf(schema)).toEqual([
        'things_pkey',
        'things_search_name',
        'things_unique_age',
        'things_unique_name',
      ])
    })

    it('read old records by the model of today', async () => {
      const schema = fresh()
      const open = () => createApp({ store: postgresStore({ url, schema }) })
      const Old = defineModel('Aged', { fields: { name: z.string() } })
      const first = open()
      const { _id } = await first.store.collection(Old).insert({ name: 'old' })
      await first.close()
      const Now = defineModel('Aged', {
        fields: { name: z.string(), age: z.int().default(7), note: z.string().nullish() },
      })
      const second = open()
      const things = second.store.collection(Now)
      expect(await things.findById(_id)).toMatchObject({ name: 'old' })
      expect(await things.update(_id, { note: null })).toMatchObject({ note: null })
      expect(await things.find({ note: null })).toHaveLength(1)
      await second.close()
    })
  })
})
