import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

await withService('postgres', ({ url }) => {
  const { run, serve } = foreignTables(url)

  describe('a file of an adopted table', () => {
    it.each([
      ['numeric(38,20)', '0.12345678901234567891 + (g % 3) * 0.00000000000000000001'],
      ['numeric', '1.0 / (3 + g % 2)'],
      ['bigint', '9007199254740993 + g % 7'],
      ['bigint', '9223372036854775800 + g % 8'],
      ['bigint', '-9223372036854775808 + g % 8'],
      ['real', '0.1 * (g % 3)'],
    ])(
      'has every record in the order of numbers of more digits than are shown: %s, %s',
      async (type, value) => {
        const table = `t${crypto.randomUUID().replaceAll('-', '')}`
        await run(`
        CREATE TABLE ${table} (id int PRIMARY KEY, n ${type});
        INSERT INTO ${table} SELECT g, CASE WHEN g % 9 > 0 THEN ${value} END FROM generate_series(1, 1500) g`)
        const router = { sortableFields: ['n'], maxLimit: 5000, exportLimit: 5000 }
        const { get, file } = await serve(table, { n: z.number().nullish() }, { router })
        for (const sort of ['n', '-n']) {
          const all = (await get(`/m?sort=${sort}`)).data.map(({ _id }: { _id: string }) => _id)
          expect(all).toHaveLength(1500)
          expect(await file(`sort=${sort}`), sort).toEqual(all)
        }
      },
    )
  })
})
