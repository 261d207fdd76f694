import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import { withService } from '../../services/shared.ts'

const TABLES = `
  CREATE TABLE tree (id integer PRIMARY KEY, code text UNIQUE, up text REFERENCES tree (code));
  INSERT INTO tree VALUES (1, 'a', NULL), (2, 'b', 'a');
  CREATE TABLE person (id serial PRIMARY KEY, email text, "Last" text, first text);
  CREATE UNIQUE INDEX person_email ON person (lower(email));
  CREATE UNIQUE INDEX person_names ON person (lower("Last"), lower(first));
  INSERT INTO person (email, "Last", first) VALUES ('a@b.c', 'Doe', 'Jane');
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.email = 'no' THEN RAISE EXCEPTION 'not this one'; END IF;
    IF NEW.email = 'never' THEN RAISE insufficient_privilege; END IF; RETURN NEW; END $$;
  CREATE TRIGGER refusing BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION refuse();
  CREATE TABLE tenant (id serial PRIMARY KEY, name text);
  ALTER TABLE tenant ENABLE ROW LEVEL SECURITY;
  CREATE POLICY own ON tenant USING (true) WITH CHECK (name = 'own');
  CREATE DOMAIN brief AS varchar(3);
  CREATE TABLE narrow (id serial PRIMARY KEY, v varchar(3), c char(3), b bit(3), n bit varying(3), d brief, l varchar(3)[]);
  INSERT INTO narrow VALUES (1, '111', '111', '111', '111', '111', '{111}');
  CREATE TABLE span (id serial PRIMARY KEY, low int, "High" int, secret int DEFAULT 1,
    CONSTRAINT ordered CHECK (low < "High"), CHECK (low <> 13), CHECK (low <> 14 OR secret <> 1));
  CREATE TABLE readable (id serial PRIMARY KEY, name text);
  INSERT INTO readable (name) VALUES ('a');
`
const optional = z.string().nullish()
const id = { columns: { _id: 'id' }, id: 'integer' } as const
const models = {
  tree: defineModel('RefusedTree', {
    fields: { code: optional, up: optional },
    table: 'tree',
    ...id,
  }),
  person: defineModel('RefusedPerson', {
    fields: { email: optional, last: optional, first: optional },
    table: 'person',
    columns: { _id: 'id', last: 'Last' },
    id: 'integer',
  }),
  tenant: defineModel('RefusedTenant', { fields: { name: optional }, table: 'tenant', ...id }),
  narrow: defineModel('RefusedNarrow', {
    fields: {
      ...{ v: optional, c: optional, b: optional, n: optional, d: optional },
      l: z.array(z.string()),
    },
    table: 'narrow',
    ...id,
  }),
  span: defineModel('RefusedSpan', {
    fields: { low: z.int().nullish(), high: z.int().nullish() },
    table: 'span',
    columns: { _id: 'id', high: 'High' },
    id: 'integer',
  }),
  readable: defineModel('RefusedReadable', {
    fields: { name: optional },
    table: 'readable',
    ...id,
  }),
}

await withService('postgres', ({ url }) => {
  const space = `refusals_${crypto.randomUUID()}`
  const role = `role_${crypto.randomUUID()}`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const logged: string[] = []
  const error = (...told: unknown[]) => void logged.push(JSON.stringify(told))
  const quiet = { debug() {}, info: error, warn() {}, error }

  function appOf(address: string, store = postgresStore({ url: address, schema: space })) {
    const app = createApp({ store, logger: quiet })
    for (const [path, model] of Object.entries(models)) {
      const allowedFields = Object.keys(model.fields) as never
      app.mount(`/${path}`, createRouter({ model, middlewares: [], allowedFields } as never))
    }
    return app
  }
  const asRole = new URL(url)
  asRole.username = role
  const [app, limited] = [appOf(url), appOf(asRole.href)]

  async function call(method: string, path: string, json?: object, by = app) {
    const headers = { 'content-type': 'application/json' }
    const body = json && { body: JSON.stringify(json), headers }
    const response = await by.handle(new Request(`http://localhost${path}`, { method, ...body }))
    const { error, fields } = JSON.parse((await response.text()) || '{}')
    return [response.status, error, fields]
  }

  beforeAll(async () => {
    await sql`CREATE SCHEMA ${sql(space)}`
    await sql.unsafe(`SET search_path TO "${space}", public; ${TABLES}`)
    await sql.unsafe(`CREATE ROLE "${role}" LOGIN; GRANT USAGE ON SCHEMA "${space}" TO "${role}";
      GRANT SELECT ON ALL TABLES IN SCHEMA "${space}" TO "${role}";
      GRANT INSERT, UPDATE, DELETE ON tree, person, tenant TO "${role}";
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA "${space}" TO "${role}"`)
  })
  afterAll(async () => {
    await app.close()
    await limited.close()
    await sql`DROP SCHEMA ${sql(space)} CASCADE`
    await sql.unsafe(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
    await sql.end()
  })

  describe('what PostgreSQL refuses', () => {
    const check = [400, 'Check the submitted values.', {}]

    it('a role that may not create tables is told what to run', async () => {
      const granted = `GRANT USAGE, CREATE ON SCHEMA "${space}" TO "${role}"`
      const reason = await limited.ready().catch((error: Error) => error.message)
      expect(reason).toContain(`the role "${role}" may not create tables in the schema "${space}"`)
      expect(reason).toContain(`Let an administrator run: ${granted}`)
      await sql.unsafe(granted)
      await limited.ready()
    })

    it('a trigger with RAISE EXCEPTION', async () => {
      expect(await call('POST', '/person', { email: 'no' })).toEqual(check)
      expect(logged.at(-1)).toContain('"database":"P0001 exec_stmt_raise"')
    })

    it.each(['v', 'c', 'b', 'n', 'd'])('what is too long for a column: %s', async (field) => {
      expect(await call('PATCH', '/narrow/1', { [field]: '1010' })).toEqual(check)
      expect(await call('PATCH', '/narrow/1', { l: ['1010'] })).toEqual(check)
      expect(await call('POST', '/narrow', { [field]: '1010', l: [] })).toEqual(check)
      const [row] = await sql`SELECT * FROM ${sql(space)}.narrow`
      expect(row).toMatchObject({ [field]: '111', l: ['111'] })
      expect((await call('PATCH', '/narrow/1', { [field]: '111' }))[0]).toBe(200)
    })

    it('a check, whose fields are named, as far as the model has them', async () => {
      const [, message] = check
      const wrong = 'Invalid value.'
      const told = (fields: object) => [400, message, fields]
      expect(await call('POST', '/span', { low: 2, high: 1 })).toEqual(
        told({ low: wrong, high: wrong }),
      )
      expect(await call('POST', '/span', { low: 13, high: 20 })).toEqual(told({ low: wrong }))
      expect(await call('POST', '/span', { low: 14, high: 20 })).toEqual(told({ low: wrong }))
      expect((await call('POST', '/span', { low: 1, high: 2 }))[0]).toBe(201)
    })

    it('row-level security, and a trigger that says that a right is lacking', async () => {
      expect(await call('POST', '/tenant', { name: 'other' }, limited)).toEqual(check)
      expect((await call('POST', '/tenant', { name: 'own' }, limited))[0]).toBe(201)
      expect(await call('POST', '/person', { email: 'never' }, limited)).toEqual(check)
    })

    it('a right that the role lacks is a 500, and the log says which', async () => {
      const broken = [500, 'Internal Server Error', undefined]
      expect(await call('PATCH', '/readable/1', { name: 'b' }, limited)).toEqual(broken)
      expect(await call('DELETE', '/readable/1', undefined, limited)).toEqual(broken)
      expect(logged.join()).toContain('permission denied for table readable')
    })

    it('to delete what another row of the same table refers to by a unique column', async () => {
      const referenced = [409, 'Entry is still referenced.', undefined]
      expect(await call('DELETE', '/tree/1')).toEqual(referenced)
      expect(await call('PATCH', '/tree/1', { code: 'c' })).toEqual(referenced)
      const missing = [400, 'Invalid value for up.', { up: 'Does not exist.' }]
      expect(await call('PATCH', '/tree/1', { up: 'x' })).toEqual(missing)
    })

    it('a clash in an index on an expression', async () => {
      const email = [409, 'Duplicate value for: email.', { email: 'Already exists.' }]
      expect(await call('POST', '/person', { email: 'A@B.C' })).toEqual(email)
      const names = { last: 'DOE', first: 'JANE' }
      const both = { last: 'Already exists.', first: 'Already exists.' }
      const expected = [409, 'Duplicate value for: last, first.', both]
      expect(await call('POST', '/person', names)).toEqual(expected)
    })

    it('a lock that is not to be had within lock_timeout is a 503', async () => {
      const address = new URL(url)
      address.searchParams.set('lock_timeout', '50')
      const hasty = appOf(address.href)
      await hasty.ready()
      await sql.begin(async (holder) => {
        await holder`SELECT * FROM ${holder(space)}.tree WHERE id = 2 FOR UPDATE`
        expect((await call('PATCH', '/tree/2', { code: 'z' }, hasty))[0]).toBe(503)
      })
      await hasty.close()
    })
  })

  it('a read with a time limit waits for no transaction, however the database isolates them', async () => {
    const address = new URL(url)
    address.searchParams.set('default_transaction_isolation', 'serializable')
    address.searchParams.set('default_transaction_deferrable', 'on')
    const store = postgresStore({ url: address.href, schema: space })
    const Held = defineModel('Deferred', { fields: { x: z.number() } })
    const schema = { ...Held, name: Held.collection, searchable: [] }
    await store.prepare([schema])
    await sql.begin('isolation level serializable', async (other) => {
      await other`SELECT pg_current_xact_id()`
      const hints = { timeLimitMs: 1000 }
      const read = { filter: everything, sort: [], limit: 1, hints }
      expect(await store.collection(schema).find(read)).toEqual([])
    })
    await store.close()
  })

  it('settings of the database change no value, and break no start', async () => {
    const database = `settings_${crypto.randomUUID()}`
    await sql.unsafe(`CREATE DATABASE "${database}"`)
    await sql.unsafe(`ALTER DATABASE "${database}" SET extra_float_digits = 0`)
    await sql.unsafe(`ALTER DATABASE "${database}" SET quote_all_identifiers = on`)
    await sql.unsafe(`ALTER DATABASE "${database}" SET standard_conforming_strings = off`)
    const address = new URL(url)
    address.pathname = `/${database}`
    const unit = z.object({ 'ba\\ck': z.string().optional() }).optional()
    const Measure = defineModel('Measure', {
      fields: { x: z.number(), unit },
      unique: ['x', 'unit.ba\\ck'],
    })
    const schema = { ...Measure, name: Measure.collection, searchable: [] }
    for (const start of [1, 2]) {
      const store = postgresStore({ url: address.href })
      const own = createApp({ store, logger: quiet })
      own.mount('/m', createRouter({ model: Measure, middlewares: [], allowedFields: ['x'] }))
      await own.ready()
      expect(await store.dropLeftOvers?.([schema])).toEqual([])
      const x = 0.1 + 0.2 * start
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ x })
      const request = new Request('http://localhost/m', { method: 'POST', headers, body })
      const { data } = (await (await own.handle(request)).json()) as { data: { _id: string } }
      const read = await own.handle(new Request(`http://localhost/m/${data._id}`))
      expect(await read.json()).toMatchObject({ data: { x } })
      await own.close()
    }
    await sql.unsafe(`DROP DATABASE "${database}" WITH (FORCE)`)
  })
})
