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
    place: z.object({ names: z.array(z.string()) }).optional(),
  },
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('a filter by the elements of a list reads an index, and finds what a look at every record finds', async () => {
    const schema = fresh()
    const quiet = () => {}
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
    const sent: string[] = []
    const debug = (_: number, text: string) => void sent.push(text)
    const client = postgres(url, { onnotice: quiet, debug })
    const app = createApp({ store: postgresStore({ client, schema }), logger })
    const query = ['tags', 'ranks', 'days', 'place.names'] as const
    app.mount(
      '/posts',
      createRouter({ model: Post, query, middlewares: [], filterableFields: query }),
    )
    await app.ready()
    const sql = postgres(url, { max: 1, onnotice: quiet })
    await sql.unsafe(`INSERT INTO "${schema}"."${Post.collection}" (_id, tags, ranks, days, place)
      SELECT lpad(to_hex(n), 24, '0'), jsonb_build_array('t' || n % 5000, 'u' || n % 7),
        jsonb_build_array(n % 5000, 1.5), jsonb_build_array('2026-01-01T00:00:00.000Z'),
        jsonb_build_object('names', jsonb_build_array('p' || n % 5000))
      FROM generate_series(1, 30000) n`)
    await sql.unsafe(`INSERT INTO "${schema}"."${Post.collection}" (_id, tags)
      VALUES ('ffffffffffffffffffffffff', '["a\\u0001\\u0001b", "x\\"y"]')`)
    await sql.unsafe(`VACUUM ANALYZE "${schema}"."${Post.collection}"`)
    const found = async (search: string) => {
      const response = await app.handle(new Request(`http://localhost/posts?${search}&limit=100`))
      return ((await response.json()) as { data: unknown[] }).data.length
    }
    expect(await found('tags=t5')).toBe(6)
    expect(await found('tags=t5&tags=t6')).toBe(12)
    expect(await found('ranks=5')).toBe(6)
    expect(await found('place.names=p5')).toBe(6)
    expect(await found('tags=a%00b')).toBe(1)
    expect(await found('tags=x%22y')).toBe(1)
    expect(await found('tags=t')).toBe(0)
    expect(await found('tags=u1')).toBeGreaterThan(0)
    const asked = sent.filter((text) => text.includes('jsonb_array_elements'))
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter((text) => !text.includes(' @> '))).toEqual([])
    const plan = await sql.unsafe(
      `EXPLAIN SELECT 1 FROM "${schema}"."${Post.collection}" WHERE tags @> '"t5"'::jsonb`,
    )
    expect(JSON.stringify(plan)).toContain('listedposts_list_tags')
    const nested = await sql.unsafe(
      `EXPLAIN SELECT 1 FROM "${schema}"."${Post.collection}" WHERE (place -> 'names') @> '"p5"'::jsonb`,
    )
    expect(JSON.stringify(nested)).toContain('listedposts_list_place.names')
    // A second start finds what the first one has made.
    const warnings: string[] = []
    const again = createApp({
      store: postgresStore({ url, schema }),
      logger: { ...logger, warn: (message: string) => void warnings.push(message) },
    })
    again.mount('/posts', createRouter({ model: Post, query, middlewares: [] }))
    await again.ready()
    await again.close()
    expect(warnings.filter((warning) => warning.includes('PostgreSQL'))).toEqual([])
    await sql.end()
    await app.close()
    await client.end()
  })

  it('a list and a count without a filter are planned once by a connection', async () => {
    const client = postgres(url, { max: 1, onnotice: () => {} })
    const app = createApp({ store: postgresStore({ client, schema: fresh() }) })
    app.mount('/posts', createRouter({ model: Post, middlewares: [] }))
    await app.ready()
    for (let time = 0; time < 3; time += 1) {
      const response = await app.handle(new Request('http://localhost/posts?page=1'))
      expect(response.status).toBe(200)
    }
    const prepared = await client`SELECT statement, generic_plans + custom_plans AS used
      FROM pg_prepared_statements WHERE statement LIKE ${`%${Post.collection}%`}`
    expect(prepared.map(({ used }) => Number(used))).toEqual([3, 3])
    await app.close()
    await client.end()
  })
})
