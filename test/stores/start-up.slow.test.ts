import { MongoClient } from 'mongodb'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, type Model, type Store } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshD1 } from './d1/databases.ts'
import { freshSchemas } from './postgres/schemas.ts'

let models = 0

function wide(
  count: number,
  more: (names: string[]) => object = () => ({}),
): { model: Model; names: string[] } {
  const names = Array.from({ length: count }, (_, at) => `f${at}`)
  models += 1
  const fields = Object.fromEntries(names.map((name) => [name, z.string().max(9).optional()]))
  const model = defineModel(`Wide${models}`, { collection: 'wide', fields, ...more(names) })
  return { model: model as unknown as Model, names }
}

/** What start-up says of models: its error, and its warnings. */
async function started(store: Store, mounts: readonly { model: Model; search?: string[] }[]) {
  const warnings: string[] = []
  const quiet = () => {}
  const warn = (message: string) => void warnings.push(message)
  const app = createApp({ store, logger: { debug: quiet, info: quiet, warn, error: quiet } })
  for (const [at, options] of mounts.entries()) {
    app.mount(`/m${at}`, createRouter({ middlewares: [], ...options } as never))
  }
  const error = await app.ready().then(
    () => undefined,
    (thrown: Error) => `${thrown.name}: ${thrown.message}`,
  )
  await app.close()
  return { error, warnings }
}

const d1 = await freshD1(2)

describe('more searched fields than a table has room for are a start-up error that names the collection', () => {
  it('on D1, beyond 96', async () => {
    const { model, names } = wide(96)
    expect((await started(d1Store(d1()), [{ model, search: names }])).error).toBeUndefined()
    const more = wide(97)
    const { error } = await started(d1Store(d1()), [{ model: more.model, search: more.names }])
    expect(error).toMatch(/^TypeError: 'wide' has 97 searched fields, .* room for 96/)
  })

  it('on SQLite, beyond 1,900', async () => {
    const { model, names } = wide(1901)
    const { error } = await started(sqliteStore(), [{ model, search: names }])
    expect(error).toMatch(/^TypeError: 'wide' has 1901 searched fields, .* room for 1900/)
  })
})

await withService('mongo', ({ url }) => {
  it.each<[string, (names: string[]) => object, RegExp]>([
    [
      'fields in an index',
      (unique) => ({ unique: [unique.slice(0, 33)] }),
      /'wide' can't have the index on f0, .*32 fields/,
    ],
    [
      'indexes',
      (indexes) => ({ indexes }),
      /'wide' can't have the index on f63, _id: .*64 indexes/,
    ],
    [
      'than a name can have',
      () => ({ collection: 'wi$de' }),
      /'wi\$de': MongoDB takes no name with '\$'/,
    ],
    [
      'than MongoDB leaves',
      () => ({ collection: 'system.wide' }),
      /'system.wide': MongoDB .*'system.'/,
    ],
  ])('more %s are a start-up error that names the collection', async (_, more, told) => {
    const store = mongoStore({ url, database: `wide-${crypto.randomUUID()}` })
    const { error } = await started(store, [{ model: wide(64, more).model }])
    expect(error).toMatch(told)
    expect(error).toMatch(/^TypeError: /)
  })

  it.each([[], ['f0']])(
    'a view in the place of a collection is one too, with unique %o',
    async (...unique) => {
      const database = `wide-${crypto.randomUUID()}`
      const client = new MongoClient(url)
      await client.db(database).createCollection('wide', { viewOn: 'others', pipeline: [] })
      const { error } = await started(mongoStore({ client, database }), [
        { model: wide(1, () => ({ unique })).model },
      ])
      await client.db(database).dropDatabase()
      await client.close()
      expect(error).toMatch(/^TypeError: MongoDB: 'wide' is a view.* another 'collection'/)
    },
  )
})

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)

  it('more fields than an index of PostgreSQL takes are one too', async () => {
    const { model } = wide(33, (names) => ({ unique: [names] }))
    const { error } = await started(postgresStore({ url, schema: fresh() }), [{ model }])
    expect(error).toMatch(/^TypeError: postgresStore: an index of 'wide' would have 33 columns/)
  })

  it('more columns than PostgreSQL takes are a start-up error that counts them', async () => {
    const { model, names } = wide(1590)
    const { error } = await started(postgresStore({ url, schema: fresh() }), [
      { model, search: names.slice(0, 20) },
    ])
    expect(error).toMatch(
      /^TypeError: postgresStore: the table of 'wide' would have 16\d\d columns/,
    )
  })

  it('and more than a logged write can return', async () => {
    const { model } = wide(840, () => ({ changes: true }))
    const { error } = await started(postgresStore({ url, schema: fresh() }), [{ model }])
    expect(error).toMatch(
      /^TypeError: postgresStore: 'wide' has 841 columns, and PostgreSQL takes 831 /,
    )
  })

  it.each(['new', 'existing'])(
    'a name that something else in the schema has is a start-up error that says what to do, of a %s table',
    async (kind) => {
      const schema = fresh()
      let statements = 0
      const debug = () => {
        statements += 1
      }
      const client = postgres(url, { max: 1, onnotice: () => {}, debug })
      await client.unsafe(
        `CREATE SCHEMA "${schema}"; CREATE VIEW "${schema}".wide_order_f0 AS SELECT 1`,
      )
      const start = (indexes: 'f0'[]) => {
        models += 1
        const fields = { f0: z.string().max(9) }
        const model = defineModel(`Wide${models}`, { collection: 'wide', fields, indexes })
        return started(postgresStore({ client, schema }), [{ model: model as unknown as Model }])
      }
      if (kind === 'existing') expect((await start([])).error).toBeUndefined()
      statements = 0
      const { error } = await start(['f0'])
      await client.end()
      expect(error).toMatch(
        /^TypeError: .*"wide_order_f0" already exists, and 'wide' needs this name/,
      )
      // It isn't tried again and again, as beside a process that makes the same.
      expect(statements).toBeLessThan(20)
    },
  )

  it('a table that is adopted and an index that would have its name are one, with both models', async () => {
    const schema = fresh()
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    await sql.unsafe(
      `CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".wide_order_f0 (_id text PRIMARY KEY, a text)`,
    )
    await sql.end()
    models += 1
    const own = defineModel(`Wide${models}`, {
      collection: 'wide',
      fields: { f0: z.string().max(9) },
      indexes: ['f0'],
    })
    const adopting = defineModel(`Old${models}`, {
      fields: { a: z.string().optional() },
      table: 'wide_order_f0',
      id: 'text',
    })
    const { error } = await started(postgresStore({ url, schema }), [
      { model: own as unknown as Model },
      { model: adopting as unknown as Model },
    ])
    expect(error).toContain(`'wide_order_f0' would be a table or an index of`)
    expect(error).toContain(`'wide'`)
    expect(error).toContain(`'${adopting.collection}'`)
  })

  it('strings without a limit in unique or indexes are told, and others are not', async () => {
    models += 1
    const model = defineModel(`Limits${models}`, {
      fields: {
        code: z.string().optional(),
        short: z.string().max(20).optional(),
        uuid: z.uuid().optional(),
        kind: z.enum(['a', 'b']).optional(),
        place: z.object({ street: z.string(), zip: z.string().length(5) }).optional(),
      },
      unique: ['code', 'short', 'uuid'],
      indexes: ['kind', 'place.street', 'place.zip'],
    })
    const { warnings } = await started(postgresStore({ url, schema: fresh() }), [
      { model: model as unknown as Model },
    ])
    const told = warnings.filter((warning) => warning.includes('2,700 bytes'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain(`'${model.collection}'`)
    expect(told[0]).toContain(`: code, place.street. `)
  })
})
