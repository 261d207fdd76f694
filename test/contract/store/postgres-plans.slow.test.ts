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
})
