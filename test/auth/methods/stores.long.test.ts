import { MongoClient } from 'mongodb'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { d1Store } from '../../../adapters/stores/sqlite/calls/d1.ts'
import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { withService } from '../../services/shared.ts'
import { startSingleMongod } from '../../services/single-mongod.ts'
import { freshD1 } from '../../stores/d1/databases.ts'
import { freshSchemas } from '../../stores/postgres/schemas.ts'
import { EXPECTED, journey } from './journey.ts'

const title = 'all methods hold what they promise, also at once'

const d1 = await freshD1(1)

describe('SQLite', () => {
  it(`${title}: D1`, async () => {
    expect(await journey(d1Store(d1()))).toEqual(EXPECTED)
  })
  it(`${title}: SQLite`, async () => {
    expect(await journey(sqliteStore())).toEqual(EXPECTED)
  })
  it(`${title}: libSQL`, async () => {
    expect(await journey(libsqlStore({ url: 'file::memory:?cache=shared' }))).toEqual(EXPECTED)
  })
})

await withService('postgres', ({ url }) => {
  it(`${title}: PostgreSQL`, async () => {
    const schema = freshSchemas(url)()
    expect(await journey(postgresStore({ url, schema }))).toEqual(EXPECTED)
  })
})

await withService('mongo', ({ url }) => {
  it(`${title}: MongoDB`, async () => {
    const database = `methods-${crypto.randomUUID()}`
    onTestFinished(async () => {
      const client = new MongoClient(url)
      await client.db(database).dropDatabase()
      await client.close()
    })
    expect(await journey(mongoStore({ url, database }))).toEqual(EXPECTED)
  })

  it(`${title}: a MongoDB without transactions`, async () => {
    const single = await startSingleMongod()
    onTestFinished(single.stop)
    expect(await journey(mongoStore({ url: `${single.url}/methods` }))).toEqual(EXPECTED)
  })
})
