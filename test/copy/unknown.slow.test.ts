import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { copy } from '../../adapters/cli/copying.ts'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { postgresStore } from '../../adapters/stores/postgres/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Model } from '../../src/index.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { factored } from '../auth/methods/factored.ts'
import { withService } from '../services/shared.ts'

/** What a copy of the users alone tells, from a store with an account that has a second factor. */
async function told(from: Store): Promise<string> {
  const app = await factored({ store: from })
  onTestFinished(() => app.app.close())
  await app.enrol()
  const stream = new PassThrough()
  const all = text(stream)
  const models = [app.User] as unknown as Model[]
  const to = async () => sqliteStore()
  const job = { from, to, models, convert: false, stream: stream as never }
  expect(await copy(job)).toMatchObject({ ok: true })
  stream.end()
  return all
}

const LINE = "usertotps: 1 record not copied, because 'UserTotp' is none of your models\n"

it('a copy tells of records whose model it was not given: SQLite', async () => {
  const lines = await told(sqliteStore())
  expect(lines).toContain(LINE)
  expect(lines).not.toContain('userapikeys')
})

await withService('postgres', ({ url }) => {
  it('a copy tells of records whose model it was not given: PostgreSQL', async () => {
    const schema = `unknown_${crypto.randomUUID().slice(0, 8)}`
    expect(await told(postgresStore({ url, schema }))).toContain(LINE)
  })
})

await withService('mongo', ({ url }) => {
  it('a copy tells of records whose model it was not given: MongoDB', async () => {
    const database = `unknown_${crypto.randomUUID().slice(0, 8)}`
    expect(await told(mongoStore({ url, database }))).toContain(LINE)
  })
})
