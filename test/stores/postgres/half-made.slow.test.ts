import postgres from 'postgres'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { defineModel, type Model } from '../../../src/index.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { runs } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

function thing(more: object = {}, others: object = {}): CollectionSchema {
  const fields = { age: z.number(), place: z.object({ zip: z.number() }).optional(), ...others }
  const model = defineModel('Thing', { fields, ...more } as never) as unknown as Model
  return { ...model, name: model.collection, searchable: [] }
}
const before = thing()
const now = thing({ unique: ['age'] })

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  afterAll(() => sql.end())

  describe('a unique index on PostgreSQL that a killed start left half made', () => {
    let schema: string
    const open = () => postgresStore({ url, schema })
    const table = () => sql(`${schema}.things`)
    const index = () => sql(`${schema}.things_unique_age`)

    beforeEach(async () => {
      schema = fresh()
      const store = open()
      await store.prepare([before])
      await store.close()
    })

    /** As a build leaves it that is killed, or that meets records which clash. */
    async function leaveHalfMade(): Promise<void> {
      await sql`INSERT INTO ${table()} (_id, age) VALUES ('a', 1), ('b', 1)`
      const building = sql`CREATE UNIQUE INDEX CONCURRENTLY things_unique_age ON ${table()} (age)`
      await expect(building).rejects.toMatchObject({ code: '23505' })
      await sql`DELETE FROM ${table()}`
    }

    async function indexes(through = sql): Promise<Record<string, number>> {
      const rows = await through`SELECT relname, oid::int FROM pg_class
        WHERE relnamespace = ${schema}::regnamespace AND relkind = 'i' ORDER BY relname`
      return Object.fromEntries(rows.map(({ relname, oid }) => [relname, oid]))
    }

    /** Waits until somebody waits for the table. */
    function waiting(own: postgres.TransactionSql): Promise<void> {
      const waits = async () => {
        const name = `${schema}.things`
        const locks = own`SELECT 1 FROM pg_locks WHERE relation = ${name}::regclass AND NOT granted`
        expect(await locks).toHaveLength(1)
      }
      return vi.waitFor(waits, { timeout: 20_000 })
    }

    it('is finished by several processes that start at the same time', async () => {
      for (let round = 0; round < runs(3); round += 1) {
        await sql`ALTER TABLE ${table()} DROP CONSTRAINT IF EXISTS things_unique_age`
        await leaveHalfMade()
        const stores = Array.from({ length: 6 }, open)
        await Promise.all(stores.map((store) => store.prepare([now])))
        await Promise.all(stores.map((store) => store.close()))
        expect(Object.keys(await indexes())).toEqual(['things_pkey', 'things_unique_age'])
      }
    })

    it('is not dropped once another process has finished it, by one that had seen it half made', async () => {
      await leaveHalfMade()
      const store = open()
      let preparing: Promise<void> | undefined
      const finished = await sql.begin(async (own) => {
        await own`LOCK TABLE ${table()} IN SHARE UPDATE EXCLUSIVE MODE`
        preparing = store.prepare([now])
        await waiting(own)
        await own`DROP INDEX ${index()}`
        await own`CREATE UNIQUE INDEX things_unique_age ON ${table()} (age)`
        return indexes(own as never)
      })
      await preparing
      expect(await indexes()).toEqual(finished)
      await store.close()
    })

    it('is dropped by the next start, if the one that put it aside was killed', async () => {
      await leaveHalfMade()
      await sql`ALTER INDEX ${index()} RENAME TO half_made_1`
      await sql`COMMENT ON INDEX ${sql(`${schema}.half_made_1`)} IS 'made by fieldgate'`
      const store = open()
      await store.prepare([before])
      expect(Object.keys(await indexes())).toEqual(['things_pkey'])
      await store.close()
    })

    it('is not taken for the one over other values that another version has made meanwhile', async () => {
      const store = open()
      const name = 'things_unique_place.zip'
      const more = { more: z.string().optional() }
      let preparing: Promise<void> | undefined
      await sql.begin(async (own) => {
        await own`LOCK TABLE ${table()} IN SHARE UPDATE EXCLUSIVE MODE`
        // It has looked at the indexes before it waits to add the column.
        preparing = store.prepare([thing({ unique: ['place.zip'] }, more)])
        await waiting(own)
        await own.unsafe(`CREATE UNIQUE INDEX "${name}" ON "${schema}".things ((place ->> 'zip'));
          COMMENT ON INDEX "${schema}"."${name}" IS 'made by fieldgate'`)
      })
      await preparing
      const expected = ['things_pkey', name, expect.stringContaining(`${name}_`)]
      expect(Object.keys(await indexes())).toEqual(expected)
      await store.close()
    })

    it('is known again after a restore without comments', async () => {
      const store = open()
      const all = thing({ unique: ['age'], indexes: ['-age'] })
      await store.prepare([all])
      const made = await indexes()
      for (const name of Object.keys(made)) {
        await sql.unsafe(`COMMENT ON INDEX "${schema}"."${name}" IS NULL`)
      }
      await store.prepare([all])
      expect(await indexes()).toEqual(made)
      expect(await store.dropLeftOvers?.([before])).toHaveLength(2)
      await store.close()
    })

    it('is told where statement_timeout ends each start, and made by one without', async () => {
      const hasty = postgresStore({ url: `${url}?statement_timeout=500`, schema })
      await sql.begin(async (own) => {
        await own`LOCK TABLE ${table()} IN SHARE UPDATE EXCLUSIVE MODE`
        await expect(hasty.prepare([now])).rejects.toThrow('statement_timeout=0 in the url')
      })
      await hasty.close()
      const store = postgresStore({ url: `${url}?statement_timeout=0`, schema })
      await store.prepare([now])
      expect(Object.keys(await indexes())).toEqual(['things_pkey', 'things_unique_age'])
      await store.close()
    })
  })
})
