import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineModel, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

await withService('postgres', ({ url }) => {
  const { run, serve } = foreignTables(url)

  describe('keys of an adopted table', () => {
    it('reach as far as a bigint does', async () => {
      const [most, least, long] = [
        '9223372036854775807',
        '-9223372036854775808',
        '1234567890123456789',
      ]
      await run(`
        CREATE TABLE snow (id bigint PRIMARY KEY, name text);
        INSERT INTO snow VALUES (${most}, 'most'), (${least}, 'least'), (${long}, 'long');
        CREATE TABLE flake (id bigint PRIMARY KEY, snow bigint REFERENCES snow);
        INSERT INTO flake VALUES (1, ${long})`)
      const Snow = defineModel('Snow', {
        fields: { name: z.string() },
        ...{ table: 'snow', columns: { _id: 'id' }, id: 'integer' },
      })
      const router = { query: ['snow'], onGet: () => ({ populate: ['snow'] }) }
      const flakes = await serve(
        'flake',
        { snow: ref('Snow') },
        { router, models: [Snow] as never },
      )
      const populated = { _id: '1', snow: { _id: long, name: 'long' } }
      expect((await flakes.get(`/m?snow=${long}`)).data).toEqual([populated])
      expect((await flakes.get('/m/1')).data).toEqual(populated)

      const { call, get } = await serve('snow', { name: z.string() })
      for (const id of [most, least, long]) {
        expect((await get(`/m/${id}`)).data._id).toBe(id)
        expect((await call('PATCH', `/m/${id}`, { name: 'new' })).data).toEqual({
          _id: id,
          name: 'new',
        })
      }
      expect((await flakes.call('PATCH', '/m/1', { snow: most })).data.snow._id).toBe(most)
      expect((await call('DELETE', `/m/${long}`)).status).toBe(200)
      expect((await get('/m/9223372036854775808')).status).toBe(400)
    })
  })
})
