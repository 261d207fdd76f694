import postgres from 'postgres'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { freshSchemas } from './schemas.ts'

const Post = defineModel('ListedPost', {
  fields: {
    tags: z.array(z.string().max(30)).optional(),
    ranks: z.array(z.number()).optional(),
    days: z.array(z.date()).optional(),
  },
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('a filter by the elements of a list reads an index, and finds what a look at every record finds', async () => {
    const schema = fresh()
    const quiet = () => {}
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
    const app = createApp({ store: postgresStore({ url, schema }), logger })
    const query = ['tags', 'ranks', 'days'] as const
    app.mount(
      '/posts',
      createRouter({ model: Post, query, middlewares: [], filterableFields: query }),
    )
    await app.ready()
    const sql = postgres(url, { max: 1, onnotice: quiet })
    await sql.unsafe(`INSERT INTO "${schema}"."${Post.collection}" (_id, tags, ranks, days)
      SELECT lpad(to_hex(n), 24, '0'), jsonb_build_array('t' || n % 5000, 'u' || n % 7),
        jsonb_build_array(n % 5000, 1.5), jsonb_build_array('2026-01-01T00:00:00.000Z')
      FROM generate_series(1, 30000) n`)
    await sql.unsafe(`INSERT INTO "${schema}"."${Post.collection}" (_id, tags)
      VALUES ('ffffffffffffffffffffffff', '["a\\u0001\\u0001b", "x\\"y"]')`)
    await sql.unsafe(`VACUUM ANALYZE "${schema}"."${Post.collection}"`)
    const found = async (search: string) => {
      const response = await app.handle(new Request(`http://localhost/posts?${search}&limit=100`))
      return ((await response.json()) as { data: unknown[] }).data.length
    }
    const before = await scanned(sql, schema)
    expect(await found('tags=t5')).toBe(6)
    expect(await found('tags=t5&tags=t6')).toBe(12)
    expect(await found('ranks=5')).toBe(6)
    expect(await found('tags=a%00b')).toBe(1)
    expect(await found('tags=x%22y')).toBe(1)
    expect(await found('tags=t')).toBe(0)
    expect(await found('tags=u1')).toBeGreaterThan(0)
    await expect
      .poll(async () => (await scanned(sql, schema)) > before, { timeout: 5000 })
      .toBe(true)
    const plan = await sql.unsafe(
      `EXPLAIN SELECT 1 FROM "${schema}"."${Post.collection}" WHERE tags @> '"t5"'::jsonb`,
    )
    expect(JSON.stringify(plan)).toContain('listedposts_list_tags')
    await sql.end()
    await app.close()
  })
})

/** How often indexes of lists were read. */
async function scanned(sql: postgres.Sql, schema: string): Promise<number> {
  const [row] = await sql`SELECT coalesce(sum(idx_scan), 0)::int AS scans FROM pg_stat_user_indexes
    WHERE schemaname = ${schema} AND indexrelname LIKE '%\\_list\\_%'`
  return row?.scans as number
}
