import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ref } from '../../../src/index.ts'
import { withService } from '../../services/shared.ts'
import { foreignTables } from './foreign-tables.ts'

const NUMBERS = [
  'smallint',
  'integer',
  'bigint',
  'real',
  'double precision',
  'numeric',
  'numeric(5, 2)',
]
const STRINGS = [
  ...[
    'text',
    'varchar(3)',
    'char(3)',
    'uuid',
    'mood',
    'time',
    'timetz',
    'interval',
    'inet',
    'bytea',
  ],
  ...[
    'bigint',
    'numeric',
    'timestamptz',
    'boolean',
    'name',
    '"char"',
    'xml',
    'bit(3)',
    'int4range',
  ],
]
const DATES = ['timestamptz', 'timestamptz(0)', 'timestamp', 'timestamp(1)', 'date']
const KEYS = ['smallint', 'integer', 'bigint', 'text', 'uuid']

const VALUES = [
  ...['', '0', '-0', '1', '1.5', '-1', '32768', '2147483648', '9007199254740993'],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '1e-46',
    '1e39',
    '1e300',
    '-1e300',
    '1e-300',
    '5e-324',
  ],
  ...[
    '1e400',
    '1e-400',
    'NaN',
    'Infinity',
    '-Infinity',
    'infinity',
    'true',
    'false',
    'null',
    'a',
    'abcd',
  ],
  ...[
    '\0',
    '\u0001',
    '\\',
    "'",
    '"',
    '{',
    '{}',
    '[1]',
    '%',
    'ok',
    'AAAAAAAA-0000-4000-8000-000000000001',
  ],
  ...[
    '2020-01-01',
    '0000-01-01',
    '9999-12-31T23:59:59.999Z',
    '10000-01-01',
    '2020-02-30',
    '24:00',
    '8.64e15',
  ],
  ...['1 day', '\\x00', '10.0.0.1', '\u{1f600}', 'x'.repeat(3000)],
]

/** All values as filters and as both ends of ranges. */
function queriesOf(field: string, hasRanges: boolean): string[] {
  return VALUES.map(encodeURIComponent).flatMap((text) => {
    const ranges = [`..${text}`, `${text}..`]
    const all = ranges.map((range) => `rangeField=${field}&range=${range}`)
    return [`${field}=${text}`, ...(hasRanges ? all : [])]
  })
}

await withService('postgres', ({ url }) => {
  const { run, serve } = foreignTables(url)

  interface Kind {
    readonly types: readonly string[]
    readonly field: unknown
    /** Elements of lists have no order. */
    readonly ranges?: false
  }
  const kinds: Readonly<Record<string, Kind>> = {
    numbers: { types: NUMBERS, field: z.number().nullish() },
    integers: { types: NUMBERS, field: z.int().nullish() },
    strings: { types: STRINGS, field: z.string().nullish() },
    dates: { types: DATES, field: z.date().nullish() },
    flags: { types: ['boolean'], field: z.boolean().nullish(), ranges: false },
    keys: { types: KEYS, field: ref('Foreignkeys').nullish(), ranges: false },
    number_lists: {
      types: [...NUMBERS.map((type) => `${type}[]`), 'jsonb', 'json'],
      field: z.array(z.number()).nullish(),
      ranges: false,
    },
    string_lists: {
      types: [...STRINGS.filter((type) => type !== 'xml').map((type) => `${type}[]`), 'jsonb'],
      field: z.array(z.string()).nullish(),
      ranges: false,
    },
    date_lists: {
      types: [...DATES.map((type) => `${type}[]`), 'jsonb'],
      field: z.array(z.date()).nullish(),
      ranges: false,
    },
  }

  describe('a filter of a client on an adopted table', () => {
    it.each(Object.entries(kinds))(
      'is never a 500, whatever the type of the column: %s',
      async (name, kind) => {
        const columns = kind.types.map((type, at) => ({ type, field: `c${at}` }))
        await run(`
        DO $$ BEGIN CREATE TYPE mood AS ENUM ('sad', 'ok'); EXCEPTION WHEN duplicate_object THEN NULL; END $$;
        CREATE TABLE ${name} (id int PRIMARY KEY DEFAULT 1, ${columns.map(({ field, type }) => `${field} ${type}`).join(', ')});
        INSERT INTO ${name} DEFAULT VALUES`)
        const fields = Object.fromEntries(columns.map(({ field }) => [field, kind.field]))
        const { get } = await serve(name, fields)
        const failed: string[] = []
        const queries = columns.flatMap(({ field }) => queriesOf(field, kind.ranges !== false))
        for (const query of queries) {
          const { status } = await get(`/m?${query}`)
          if (status !== 200 && status !== 400) failed.push(`${query} is a ${status}`)
        }
        expect(failed).toEqual([])
      },
    )

    it('finds no numbers that only other programs know, and the others beside them', async () => {
      await run(`
        CREATE TABLE huge (id int PRIMARY KEY, r real, j jsonb, l jsonb);
        INSERT INTO huge VALUES (1, 1, '{"n": 1e400}', '[1e400]'), (2, 0.1, '{"n": 1e-400}', '[-1e400, 5]'),
          (3, NULL, '{"n": 5}', '[0]'), (4, 3e38, '{"n": 5e-324}', '[1.7976931348623157e308]')`)
      const number = z.number().nullish()
      const fields = { r: number, j: z.object({ n: number }), l: z.array(number) }
      const sortableFields = ['r', 'j.n']
      const { get } = await serve('huge', fields, {
        router: { query: ['r', 'j.n', 'l'], sortableFields } as object,
      })
      const ids = async (query: string) => {
        const { data } = await get(`/m?${query}`)
        return data.map(({ _id }: { _id: string }) => _id).join()
      }
      expect(await ids('j.n=5')).toBe('3')
      expect(await ids('j.n=5e-324')).toBe('4')
      expect(await ids('sort=j.n')).toBe('1,2,4,3')
      expect(await ids('l=5')).toBe('2')
      expect(await ids('l=0')).toBe('3')
      expect(await ids('l=1.7976931348623157e308')).toBe('4')
      expect(await ids('r=1e300')).toBe('')
      expect(await ids('r=0.1')).toBe('2')
      expect(await ids('rangeField=r&range=0-1e300')).toBe('1,2,4')
    })
  })
})
