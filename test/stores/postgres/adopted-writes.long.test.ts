import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { defineModel, ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

await withService('postgres', ({ url }) => {
  const { run, serve, space } = foreignTables(url)

  describe('a new record in an adopted table', () => {
    it('is shown as it is stored: rounded, filled in, generated, by triggers', async () => {
      await run(`
        CREATE TABLE made (
          id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, price numeric(12, 2), code uuid, status text NOT NULL DEFAULT 'new',
          at timestamptz(0), twice numeric GENERATED ALWAYS AS (price * 2) STORED, ip inet, note text);
        CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.note = 'drop' THEN RETURN NULL; END IF; NEW.note := upper(NEW.note); RETURN NEW; END $$;
        CREATE TRIGGER shout BEFORE INSERT OR UPDATE ON made FOR EACH ROW EXECUTE FUNCTION shout()`)
      const fields = {
        ...{ price: z.number(), code: z.string(), status: z.string().optional(), at: z.date() },
        ...{ twice: z.number().optional(), ip: z.string(), note: z.string().nullish() },
      }
      const { call, get } = await serve('made', fields)
      const sent = {
        ...{ price: 1.005, code: 'AAAAAAAA-0000-4000-8000-000000000001', ip: '10.0.0.1' },
        ...{ at: '2020-01-01T10:00:00.700Z', note: 'a' },
      }
      const created = await call('POST', '/m', sent)
      expect(created).toEqual({
        status: 201,
        data: {
          ...{
            _id: '1',
            price: 1.01,
            code: sent.code.toLowerCase(),
            status: 'new',
            ip: '10.0.0.1/32',
          },
          ...{ at: '2020-01-01T10:00:01.000Z', twice: 2.02, note: 'A' },
        },
      })
      expect((await get('/m/1')).data).toEqual(created.data)
      const dropped = await call('POST', '/m', { ...sent, note: 'drop' })
      expect([dropped.status, dropped.data.error]).toEqual([400, 'Check the submitted values.'])
      expect((await get('/m')).data).toHaveLength(1)
    })

    it('is shown as it is stored also if its references are enforced', async () => {
      await run(`
        CREATE TABLE owner (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text); INSERT INTO owner(name) VALUES ('o');
        CREATE TABLE owned (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner int NOT NULL, price numeric(12, 2), status text DEFAULT 'new')`)
      const Owner = defineModel('Owner', {
        fields: { name: z.string() },
        ...{ table: 'owner', columns: { _id: 'id' }, id: 'integer' },
      })
      const owner = ref('Owner', { onDelete: 'restrict' })
      const fields = { owner, price: z.number(), status: z.string().optional() }
      const { call } = await serve('owned', fields, { models: [Owner] as never })
      const created = await call('POST', '/m', { owner: '1', price: 1.005 })
      expect(created.data).toEqual({ _id: '1', owner: '1', price: 1.01, status: 'new' })
    })

    it('is shown as it is stored by a batch too', async () => {
      await run(`
        CREATE TABLE batched (
          id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, price numeric(12, 2), status text NOT NULL DEFAULT 'new',
          twice numeric GENERATED ALWAYS AS (price * 2) STORED)`)
      const [price, twice] = [z.number(), z.number().optional()]
      const fields = { price, status: z.string().optional(), twice }
      const { call, get } = await serve('batched', fields)
      const first = { method: 'POST', path: '/m', body: { price: 1.005 } }
      const second = { method: 'POST', path: '/m', body: { price: 2.005, status: 'old' } }
      const change = { method: 'PATCH', path: '/m/$0', body: { price: 3.005 } }
      const { data } = await call('POST', '/batch', { operations: [first, second] })
      const shown = data.map(({ body }: { body: { data: object } }) => body.data)
      expect(shown).toEqual([
        { _id: '1', price: 1.01, status: 'new', twice: 2.02 },
        { _id: '2', price: 2.01, status: 'old', twice: 4.02 },
      ])
      expect((await get('/m')).data).toEqual(shown)
      const { data: both } = await call('POST', '/batch', { operations: [first, change] })
      const changed = { _id: '3', price: 3.01, status: 'new', twice: 6.02 }
      expect(both[1].body.data).toEqual(changed)
      expect((await get('/m/3')).data).toEqual(changed)
    })

    it('and changes leave alone what the database generates', async () => {
      await run(`
        CREATE TABLE fixed (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, low text GENERATED ALWAYS AS (lower(name)) STORED, n int GENERATED ALWAYS AS IDENTITY)`)
      const fields = { name: z.string(), low: z.string().nullish(), n: z.int().optional() }
      const { call, get } = await serve('fixed', fields)
      const refused = async (method: string, path: string, json: object) => {
        const { status, data } = await call(method, path, json)
        return [status, data.fields]
      }
      expect((await call('POST', '/m', { name: 'A' })).data).toEqual({
        _id: '1',
        name: 'A',
        low: 'a',
        n: 1,
      })
      const low = [400, { low: 'Invalid value.' }]
      expect(await refused('POST', '/m', { name: 'B', low: 'x' })).toEqual(low)
      expect(await refused('PATCH', '/m/1', { low: 'x' })).toEqual(low)
      expect(await refused('PATCH', '/m/1', { name: 'B', low: null })).toEqual(low)
      expect(await refused('PATCH', '/m/1', { n: 5 })).toEqual([400, { n: 'Invalid value.' }])
      expect((await get('/m')).data).toEqual([{ _id: '1', name: 'A', low: 'a', n: 1 }])
      expect((await call('PATCH', '/m/1', { name: 'C' })).data.low).toBe('c')
    })

    it('needs a key that the database makes, and start-up says so', async () => {
      const role = `role_${crypto.randomUUID()}`
      await run(`
        CREATE TABLE keyless (id int PRIMARY KEY, name text); INSERT INTO keyless VALUES (7, 'a');
        CREATE TABLE denied (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
        CREATE ROLE "${role}" LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA "${space}" TO "${role}";
        GRANT SELECT, INSERT ON denied TO "${role}"`)
      onTestFinished(async () => {
        await run(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
      })
      const fields = { name: z.string() }
      const router = { query: [] }
      const { warnings } = await serve('keyless', fields, { router })
      expect(warnings).toEqual([expect.stringContaining('its key "id" has no default. Run: ALTER')])
      await run(warnings[0]?.split('Run: ')[1] ?? '')
      const { call, warnings: none } = await serve('keyless', fields, { router })
      expect(none).toEqual([])
      expect((await call('POST', '/m', { name: 'b' })).data._id).toBe('8')

      const address = new URL(url)
      address.username = role
      address.password = 'x'
      const started = () => serve('denied', fields, { router, address: address.href })
      const warningsOf = ({ warnings: all }: { warnings: readonly string[] }) =>
        all.filter((line) => line.includes('takes no new records'))
      const [warning = ''] = warningsOf(await started())
      expect(warning).toContain('the database\'s role may not use the sequence of "id"')
      await run((warning.split(' run: ')[1] ?? '').replace('<the role>', `"${role}"`))
      const granted = await started()
      expect(warningsOf(granted)).toEqual([])
      expect((await granted.call('POST', '/m', { name: 'b' })).status).toBe(201)
    })
  })
})
