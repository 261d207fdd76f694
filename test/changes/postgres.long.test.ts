import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { run } from '../services/postgres.ts'
import { withService } from '../services/shared.ts'
import { addressOf, storeAt } from '../stores/postgres/address.ts'
import { freshSchemas } from '../stores/postgres/schemas.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import { type Database, serve, started } from './served.ts'

await withService('postgres', ({ url }) => {
  const fresh = freshSchemas(url)
  const database: Database = async () => {
    const address = addressOf(url, fresh())
    return () => storeAt(address)
  }

  changes('PostgreSQL', database, { hasColumns: true })
  meanwhile('PostgreSQL', database)

  describe('a type that changes, on PostgreSQL', () => {
    const name = z.string()
    const text = { version: { fields: { name, age: z.string() } }, stored: '42', type: 'text' }
    const number = {
      version: { fields: { name, age: z.number() } },
      stored: 42,
      type: 'double precision',
    }

    it.each([
      ['a string becomes a number', text, number],
      ['a number becomes a string', number, text],
    ])('%s: start-up names the SQL, and succeeds once it was run', async (_, from, to) => {
      const stored = { name: 'a', age: from.stored }
      const { open, id } = await started(database, { before: from.version, stored })
      const refused = await serve(open, to.version)
        .app.ready()
        .catch((error: unknown) => error)
      const [, type, sql] =
        /^TypeError: postgresStore: the column "age" .* has the type (.*), but .*: (ALTER TABLE .*)$/.exec(
          String(refused),
        ) ?? []
      expect(type, String(refused)).toBe(from.type)
      await run(url, sql ?? '')
      const now = serve(open, to.version)
      expect((await now.call('GET', `/things/${id}`)).data).toEqual({
        _id: id,
        name: 'a',
        age: to.stored,
      })
      expect(await now.list('?age=42')).toHaveLength(1)
      expect(await now.backfill()).toMatchObject({ ok: true })
    })
  })
})
