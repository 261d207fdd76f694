import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

await withService('postgres', ({ url }) => {
  const { run, serve } = foreignTables(url)
  /** The `CREATE INDEX` of each warning that has one. */
  const remedies = (warnings: readonly string[]) =>
    warnings.flatMap((line) => line.match(/CREATE INDEX.*/) ?? [])

  describe('the start of a model that adopts a table', () => {
    it('takes a key and unique constraints that include other columns', async () => {
      await run(`
        CREATE TABLE included (id int, code text, name text, PRIMARY KEY (id) INCLUDE (name), UNIQUE (code) INCLUDE (name));
        CREATE TABLE misled (id int PRIMARY KEY, code text, name text, UNIQUE (name) INCLUDE (code))`)
      const fields = { code: z.string(), name: z.string() }
      const definition = { unique: ['code'] }
      await serve('included', fields, { definition })
      const refused = serve('misled', fields, { definition })
      await expect(refused).rejects.toThrow(
        '"misled" does not keep "code" unique. Run: ALTER TABLE',
      )
    })

    it('lists all columns and unique sets that are missing, with the SQL', async () => {
      await run('CREATE TABLE lacking (id int PRIMARY KEY, pop int, code text, kind text)')
      const fields = { code: z.string(), popp: z.int().nullish(), pilot: z.boolean().nullish() }
      const refused = serve('lacking', fields, { definition: { timestamps: true } })
      const error = await refused.then(
        () => '',
        ({ message }: Error) => message,
      )
      for (const field of ['popp', 'pilot', 'createdAt', 'updatedAt']) {
        expect(error).toContain(`"${field}" for '${field}'`)
        expect(error).toContain(`ADD COLUMN "${field}" `)
      }
      expect(error).toContain(`in 'columns': "id", "pop", "code", "kind"`)
      const sets = { definition: { unique: ['code', ['code', 'kind']] } }
      await expect(serve('lacking', { code: z.string(), kind: z.string() }, sets)).rejects.toThrow(
        /keep "code" unique, and .* keep "code", "kind" unique\. Run: .*\. Run: /,
      )
    })

    it('refuses such keys over a client of the app too', async () => {
      await run(`CREATE TABLE own_client (id text PRIMARY KEY, name text);
        INSERT INTO own_client VALUES ('k1', 'a')`)
      const client = postgres(url)
      onTestFinished(() => client.end())
      const definition = { id: 'uuid' }
      const refused = serve('own_client', { name: z.string() }, { definition, client })
      await expect(refused).rejects.toThrow(`has keys such as 'k1' in "id"`)
    })

    it.each([
      ['objectId', 'text', 'md5(random()::text)', 'text'],
      ['objectId', 'text', 'gen_random_uuid()::text', 'uuid'],
      ['objectId', 'int', '7', 'integer'],
      ['objectId', 'uuid', 'gen_random_uuid()', 'uuid'],
      ['uuid', 'text', 'md5(random()::text)', 'text'],
      ['objectId', 'text', 'upper(left(md5(random()::text), 24))', 'text'],
      ['uuid', 'varchar(36)', 'upper(gen_random_uuid()::text)', 'text'],
      ['integer', 'text', "'k' || md5(random()::text)", 'text'],
      ['objectId', 'text', "'no' || nextval('numbers')", 'text'],
      ['objectId', 'text', 'drawn()', 'text'],
      ['objectId', 'numeric', "nextval('numbers')", 'integer'],
    ])(
      'refuses keys that the model gives another form: %s over %s',
      async (id, type, made, fits) => {
        const table = `keys_${id}_${type.replace(/\W/g, '')}_${made.length}`.toLowerCase()
        await run(`CREATE SEQUENCE IF NOT EXISTS numbers;
          CREATE OR REPLACE FUNCTION drawn() RETURNS text LANGUAGE sql SET search_path FROM CURRENT AS $$ SELECT 'no' || nextval('numbers') $$`)
        await run(`CREATE TABLE ${table} (id ${type} PRIMARY KEY DEFAULT ${made}, name text)`)
        const name = { name: z.string().nullish() }
        const wrong = () => serve(table, name, { definition: { id } })
        if (made === 'drawn()') await run(`INSERT INTO ${table} (name) VALUES ('a')`)
        await expect(wrong()).rejects.toThrow(`Write id: '${fits}'`)
        const { call } = await serve(table, name, { definition: { id: fits } })
        const posted = await call('POST', '/m', { name: 'a' })
        expect((await call('GET', `/m/${posted.data._id}`)).status).toBe(200)
        await run(`ALTER TABLE ${table} ALTER COLUMN id DROP DEFAULT`)
        await expect(wrong()).rejects.toThrow(`Write id: '${fits}'`)
      },
    )

    it('takes keys of the declared form, and draws no number to look at them', async () => {
      await run(`CREATE SEQUENCE drawn_from;
        CREATE FUNCTION next_key() RETURNS text LANGUAGE sql SET search_path FROM CURRENT AS $$ SELECT nextval('drawn_from')::text $$;
        CREATE TABLE keys_drawn (id text PRIMARY KEY DEFAULT next_key(), name text);
        CREATE TABLE keys_numeric (id numeric PRIMARY KEY DEFAULT nextval('drawn_from'), name text)`)
      const name = { name: z.string().nullish() }
      for (const [at, table] of ['keys_drawn', 'keys_numeric'].entries()) {
        const { call } = await serve(table, name)
        const posted = await call('POST', '/m', { name: 'a' })
        expect(posted.data._id).toBe(String(at + 1))
        expect((await call('GET', `/m/${at + 1}`)).status).toBe(200)
      }
    })

    it('warns of orders that no index serves, with lines that silence it', async () => {
      await run(`
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TABLE slow (id int PRIMARY KEY DEFAULT 1, at timestamptz NOT NULL, day date, stamp timestamp, code char(3), mood mood, name varchar(9) NOT NULL, n int, tags text[], j jsonb)`)
      const fields = {
        ...{ at: z.date(), day: z.date().nullish(), stamp: z.date().nullish() },
        ...{ code: z.string().nullish(), mood: z.string().nullish(), name: z.string() },
        ...{ n: z.int().nullish(), tags: z.array(z.string()).nullish() },
        j: z.object({ deep: z.string() }).nullish(),
      }
      const indexes = ['-at', 'day', '-stamp', 'code', 'name', ['n', '-name'], 'j.deep']
      const searched = ['name', 'code', 'j.deep']
      const started = (definition: object, search: readonly string[]) =>
        serve('slow', fields, { definition, router: { search, query: [] } as object }).then(
          ({ warnings }) => warnings,
        )
      const warnings = await started({ indexes }, searched)
      expect(remedies(warnings)).toHaveLength(indexes.length + searched.length)
      for (const line of remedies(warnings)) await run(line)
      expect(await started({ indexes }, searched)).toEqual([])

      const unfit = await started({ indexes: ['mood'] }, ['mood', 'tags'])
      expect(remedies(unfit)).toEqual([])
      expect(unfit).toEqual([
        expect.stringContaining("serves mood, and none can: PostgreSQL can't index the type"),
        expect.stringContaining("no index can serve it: PostgreSQL can't index the type"),
        expect.stringContaining("no index can serve it: PostgreSQL can't index the type text[]"),
      ])
    })

    it('knows which indexes serve', async () => {
      await run(`
        CREATE TABLE served (id int PRIMARY KEY DEFAULT 1, at timestamptz NOT NULL, day date NOT NULL, maybe timestamp, code text NOT NULL, hash int NOT NULL);
        CREATE INDEX ON served (at); CREATE INDEX ON served (day DESC); CREATE INDEX ON served (maybe);
        CREATE INDEX ON served (code); CREATE INDEX ON served USING hash (hash)`)
      const fields = {
        ...{ at: z.date(), day: z.date(), maybe: z.date().nullish() },
        ...{ code: z.string(), hash: z.int() },
      }
      const indexes = ['at', '-at', 'day', 'maybe', 'code', 'hash']
      const { warnings } = await serve('served', fields, { definition: { indexes } })
      expect(warnings.map((line) => line.match(/ serves (\w+)\. Run: /)?.[1])).toEqual([
        ...['maybe', 'code', 'hash'],
      ])
    })

    it('says what can be done about views and partitioned tables', async () => {
      await run(`
        CREATE TABLE base (id int PRIMARY KEY DEFAULT 1, name text);
        CREATE VIEW seen AS SELECT * FROM base;
        CREATE MATERIALIZED VIEW kept AS SELECT * FROM base;
        CREATE TABLE split (id int DEFAULT 1, name text, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
        CREATE TABLE parts (id int PRIMARY KEY DEFAULT 1, name text) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (100)`)
      const fields = { name: z.string().nullish() }
      const definition = { indexes: ['name'] }
      await expect(serve('seen', fields)).rejects.toThrow(
        'It is a view, which keeps nothing unique',
      )
      await expect(serve('split', fields)).rejects.toThrow('It is partitioned, so a unique')
      await expect(serve('seen', { none: z.string() })).rejects.toThrow(
        "for 'none'. Add it to the view",
      )
      const remedy = /Run: (CREATE UNIQUE INDEX .*)/
      const message = await serve('kept', fields).then(
        () => '',
        (error: Error) => error.message,
      )
      await run(remedy.exec(message)?.[1] ?? '')
      for (const table of ['kept', 'parts']) {
        const { warnings } = await serve(table, fields, { definition })
        for (const line of remedies(warnings)) await run(line)
        const again = await serve(table, fields, { definition })
        expect([remedies(warnings).length, remedies(again.warnings)]).toEqual([1, []])
      }
    })
  })
})
