import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

await withService('postgres', ({ url }) => {
  const { run, serve, space } = foreignTables(url)
  const fields = { room: z.string(), from: z.date(), to: z.date(), status: z.string().optional() }
  const table = (name: string, more = '') =>
    run(
      `CREATE TABLE ${name} (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, room text NOT NULL, "from" timestamptz NOT NULL, "to" timestamptz NOT NULL, status text${more})`,
    )
  const day = (at: number) => new Date(Date.UTC(2026, 0, at)).toISOString()

  describe('exclude on an adopted table', () => {
    it('says which constraint to add', async () => {
      await table('unkept')
      const exclude = [
        { equal: ['room'], range: ['from', 'to'], where: { status: ["o'k", 'lent'] } },
        { equal: [], range: ['from', 'to'] },
      ]
      await expect(serve('unkept', fields, { definition: { exclude } })).rejects.toThrow(
        `"${space}"."unkept" takes records that overlap in from, to, which 'exclude' forbids. Run: CREATE EXTENSION IF NOT EXISTS btree_gist; ALTER TABLE "${space}"."unkept" ADD EXCLUDE USING gist ("room" WITH =, tstzrange("from", "to") WITH &&) WHERE ("status" IN ('o''k', 'lent')); ALTER TABLE "${space}"."unkept" ADD EXCLUDE USING gist (tstzrange("from", "to") WITH &&)`,
      )
    })

    it('starts over the constraint, and refuses what the constraint alone refuses in the same words', async () => {
      await table('kept', ', EXCLUDE USING gist (tstzrange("from", "to") WITH &&)')
      const exclude = [{ equal: [], range: ['from', 'to'], where: { status: ['lent'] } }]
      const { call } = await serve('kept', fields, { definition: { exclude } })
      const book = (from: number, to: number, status: string) =>
        call('POST', '/m', { room: 'a', from: day(from), to: day(to), status })
      expect((await book(1, 3, 'lent')).status).toBe(201)
      expect((await book(3, 5, 'lent')).status).toBe(201)
      for (const status of ['lent', 'new']) {
        expect(await book(4, 6, status)).toMatchObject({
          status: 409,
          data: {
            error: 'Overlaps an existing entry.',
            fields: { from: 'Overlaps an existing entry.', to: 'Overlaps an existing entry.' },
          },
        })
      }
    })
  })
})
