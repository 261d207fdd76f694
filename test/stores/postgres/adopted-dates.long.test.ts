import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

const FIRST = '0000-01-01T00:00:00.000Z'
const LAST = '9999-12-31T23:59:59.999Z'

await withService('postgres', ({ url }) => {
  const { run, serve } = foreignTables(url)
  const ids = ({ data }: { data: { _id: string }[] }) => data.map(({ _id }) => _id).join()

  describe('dates of an adopted table', () => {
    const types = ['timestamptz', 'timestamptz(0)', 'timestamp', 'date']
    it.each(types)('are read and written beside those that JavaScript lacks: %s', async (type) => {
      const table = type.replace(/\W/g, '_')
      const far = type === 'date' ? '5874897-01-01' : '280000-01-01'
      await run(`
        CREATE TABLE ${table} (id int PRIMARY KEY, name text, at ${type});
        INSERT INTO ${table} VALUES (1, 'a', 'infinity'), (2, 'b', '-infinity'), (3, 'c', '${far}'), (4, 'd', '2020-01-01'), (5, 'e', '0044-03-15 BC'), (6, 'f', NULL)`)
      // A rule over the whole record makes a PATCH a compare-and-set of all of it.
      const rule = { path: ['name'], error: 'no' }
      const fields = { name: z.string(), at: z.date().nullish() }
      const whole = z.object(fields).refine(({ name }) => name !== 'x', rule)
      const router = { query: ['at'], allowedFields: ['name', 'at'], sortableFields: ['at'] }
      for (const given of [fields, whole]) {
        const { call, get } = await serve(table, given, { router: { ...router } })
        const day = '2020-01-01T00:00:00.000Z'
        const dates = [LAST, FIRST, LAST, day, '-000043-03-15T00:00:00.000Z', null]
        expect((await get('/m')).data.map(({ at }: { at: string }) => at)).toEqual(dates)
        for (const [index, at] of dates.entries()) {
          const path = `/m/${index + 1}`
          expect((await get(path)).data.at).toBe(at)
          const patched = await call('PATCH', path, { name: 'new' })
          expect([patched.status, patched.data.at]).toEqual([200, at])
        }
        const kept = await run(`SELECT id FROM ${table} WHERE isfinite(at) IS FALSE ORDER BY id`)
        expect(kept.map(({ id }) => id)).toEqual([1, 2])
        expect(ids(await get('/m?sort=at'))).toBe('6,2,5,4,3,1')
        expect(ids(await get(`/m?at=${LAST}&sort=at`))).toBe('3,1')
        expect(ids(await get(`/m?at=${FIRST}`))).toBe('2')
        const since = `/m?rangeField=at&range=2020-01-01..${LAST}&sort=at`
        expect(ids(await get(since))).toBe('4,3,1')
      }
      const { call } = await serve(table, fields)
      expect((await call('DELETE', '/m/1')).status).toBe(200)
      expect((await call('PATCH', '/m/2', { at: '2021-01-01' })).data.at).toContain('2021-01-01')
    })

    it('are found, sorted and paged with parts of a millisecond', async () => {
      await run(`
        CREATE TABLE fine (id int PRIMARY KEY, at timestamptz NOT NULL, stamp timestamp);
        INSERT INTO fine SELECT g, '2024-02-29 12:34:56.789' ::timestamptz + ((g * 7) % 20) * interval '100 microseconds',
          CASE WHEN g % 3 > 0 THEN '2024-02-29 12:34:56.789' ::timestamp + ((g * 7) % 20) * interval '100 microseconds' END
        FROM generate_series(1, 20) g`)
      const fields = { at: z.date(), stamp: z.date().nullish() }
      const router = { pagination: 'cursor', sortableFields: ['at', 'stamp'] }
      const { get, pages } = await serve('fine', fields, { router: { ...router, query: ['at'] } })
      const found = async (query: string) => (await get(`/m?pageSize=50&${query}`)).data.length
      expect(await found('at=2024-02-29T12:34:56.789Z')).toBe(10)
      expect(await found('at=2024-02-29T12:34:56.790Z')).toBe(10)
      expect(await found('at=2024-02-29T12:34:56.788Z')).toBe(0)
      for (const sort of ['at', '-at', 'stamp', '-stamp']) {
        const all = await pages(`sort=${sort}&pageSize=50`)
        expect(all).toHaveLength(20)
        expect(await pages(`sort=${sort}&pageSize=1`)).toEqual(all)
        expect(await pages(`sort=${sort}&pageSize=3`)).toEqual(all)
      }
    })

    it('are in a file in the order of their parts of a millisecond', async () => {
      await run(`
        CREATE TABLE many (id int PRIMARY KEY, at timestamptz NOT NULL, stamp timestamp);
        INSERT INTO many SELECT g, '2024-02-29 12:34:56.789' ::timestamptz + ((g * 7) % 997) * interval '1 microsecond',
          CASE WHEN g % 3 > 0 THEN 'infinity' ::timestamp ELSE '2024-02-29 12:34:56.789' ::timestamp + (g % 20) * interval '100 microseconds' END
        FROM generate_series(1, 2500) g`)
      const fields = { at: z.date(), stamp: z.date().nullish() }
      const router = { sortableFields: ['at', 'stamp'], maxLimit: 5000, exportLimit: 5000 }
      const { get, file } = await serve('many', fields, { router })
      for (const sort of ['at', '-at', 'stamp', '-stamp']) {
        const all = (await get(`/m?sort=${sort}`)).data.map(({ _id }: { _id: string }) => _id)
        expect(all).toHaveLength(2500)
        expect(await file(`sort=${sort}`), sort).toEqual(all)
      }
    })
  })
})
