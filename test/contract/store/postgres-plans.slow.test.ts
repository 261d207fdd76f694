import postgres from 'postgres'
import { expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { ownId, ownSchema } from '../../../src/model/own-records.ts'
import { withService } from '../../services/shared.ts'

const TOKENS = ownSchema('tokens', { expiresAt: 'date' }, [['expiresAt']])

await withService('postgres', ({ url }) => {
  it('PostgreSQL finds one record of a range by its index, however few there are', async () => {
    const schema = `plans_${crypto.randomUUID().slice(0, 8)}`
    const store = postgresStore({ url, schema })
    const sql = postgres(url)
    onTestFinished(async () => {
      await store.close?.()
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`)
      await sql.end()
    })
    await store.prepare([TOKENS])
    const tokens = store.collection(TOKENS)
    await tokens.insert({ _id: ownId('a'), expiresAt: new Date('2999-01-01') })
    await sql.unsafe(`INSERT INTO ${schema}.tokens (_id, "expiresAt", _nulls)
      SELECT substr(md5(n::text), 1, 24), "expiresAt", _nulls FROM ${schema}.tokens, generate_series(1, 20000) AS n`)
    await sql.unsafe(`ANALYZE ${schema}.tokens`)
    expect(await tokens.delete({ op: 'lt', field: 'expiresAt', value: new Date() })).toBeNull()
    const [sent] =
      await sql`SELECT query FROM pg_stat_activity WHERE query LIKE ${`DELETE%${schema}%`}`
    const plan = await sql.unsafe(`EXPLAIN (GENERIC_PLAN) ${sent?.query}`).simple()
    const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
    expect(lines).toMatch(/Index Scan using "?tokens_order_expiresAt/)
    expect(lines).not.toContain('Seq Scan')
  })

  it('PostgreSQL finds what is rare by the index of searches, also of millions and time and again', async () => {
    const schema = `plans_${crypto.randomUUID().slice(0, 8)}`
    const store = postgresStore({ url, schema, max: 1 })
    const sql = postgres(url)
    onTestFinished(async () => {
      await store.close?.()
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`)
      await sql.end()
    })
    const things = ownSchema('things', { name: 'string', price: 'integer' }, [['price']])
    await store.prepare([{ ...things, searchable: ['name'] }])
    const collection = store.collection({ ...things, searchable: ['name'] })
    await collection.insert({ _id: ownId('a'), name: 'a', price: 0 })
    await sql.unsafe(`INSERT INTO ${schema}.things (_id, name, price, _nulls)
      SELECT substr(md5(n::text), 1, 24), md5(n::text), n, _nulls FROM ${schema}.things, generate_series(1, 20000) AS n`)
    await sql.unsafe(`VACUUM ANALYZE ${schema}.things`)
    // As of a hundred million records, of which as many more are in a page.
    await sql.unsafe(`UPDATE pg_class SET reltuples = reltuples * 5000
      FROM pg_namespace AS n WHERE n.oid = relnamespace AND nspname = '${schema}' AND relkind IN ('r', 'i')`)
    const found = async (text: string) => {
      const filter = { op: 'contains', field: 'name', text } as const
      const sort = [
        { field: 'price', descending: false },
        { field: '_id', descending: false },
      ]
      return (await collection.find({ filter, sort, limit: 50 })).length
    }
    for (let at = 0; at < 12; at += 1) expect(await found(`zz${at}zz`)).toBe(0)
    const walks = async () => {
      await sql`SELECT pg_stat_clear_snapshot()`
      const [walked] = await sql`SELECT sum(idx_tup_read)::int AS rows FROM pg_stat_user_indexes
        WHERE schemaname = ${schema} AND indexrelname LIKE '%order_price%'`
      const [searched] = await sql`SELECT sum(idx_scan)::int AS scans FROM pg_stat_user_indexes
        WHERE schemaname = ${schema} AND indexrelname LIKE '%search%'`
      return [searched?.scans, walked?.rows]
    }
    await store.close?.()
    await expect.poll(walks).toEqual([12, 0])
  })
})
