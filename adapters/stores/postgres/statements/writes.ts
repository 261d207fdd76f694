/** The statements that write to one collection, or hold its records until a transaction ends. */

import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { Fields } from '../../../../src/ports/store/records.ts'
import type { Change, CollectionSchema, WriteOptions } from '../../../../src/ports/store/store.ts'
import { topOf } from '../../../../src/ports/values/paths.ts'
import type { StepWrites } from '../../changes/noting.ts'
import { asStored, type Held } from '../../expecting.ts'
import { changedPaths } from '../../planner/change.ts'
import { namesOne } from '../../planner/seek.ts'
import { every } from '../../sql/filter.ts'
import { orderBy } from '../../sql/page.ts'
import { type Column, NULLS, type Table } from '../layout/columns.ts'
import { type Compilation, sorted } from '../layout/operands.ts'
import { type Reader, type Row, type Run, readerOf } from '../layout/rows.ts'
import { identifier, literal, Parameters, restored } from '../layout/sql.ts'
import { compileChange, scalarText } from './change.ts'
import { compileFilter, where } from './filter.ts'
import { inserter, refuseFixed } from './inserts.ts'

/** The writes of one collection, and what several of them as one transaction need. */
export interface Writes extends StepWrites {
  /** Waits for those who write to the records; nobody else does before the transaction ends. Resolves to their ids. */
  lock(filter: Filter): Promise<string[]>
}

/** The writes to `schema`, which is `table` in the database. */
export function writesTo(schema: CollectionSchema, table: Table, run: Run): Writes {
  // The log has whole records: what another version of the model has added as well.
  const reader = readerOf(table, undefined, schema.logged !== undefined && !table.isAdopted)
  const { columns, record } = reader
  const compilation = (): Compilation => ({ schema, table, parameters: new Parameters() })
  const send = (sql: string, { parameters }: Compilation) => run(parameters.statement(sql))
  const expected = expectingIn(schema, table, reader, run)

  /** Writes one record: `begin` returns the statement up to its condition. */
  const writeOne = (
    filter: Filter,
    options: WriteOptions | undefined,
    begin: (compiled: Compilation) => string,
  ): Promise<Fields | null> =>
    expected(filter, options, async (held) => {
      const compiled = compilation()
      const sql = `${begin(compiled)} WHERE ${target(filter, held, compiled)} RETURNING ${columns}`
      const [row] = (await send(sql, compiled)).rows
      return row ? record(row) : null
    })

  const select = (what: string, filter: Filter, held: Holds, ending: string) => {
    const compiled = compilation()
    const condition = matching(filter, held, compiled)
    return send(`SELECT ${what} FROM ${table.sql} WHERE ${condition}${ending}`, compiled)
  }
  // In one order, so that two writes never wait for each other.
  const all = (what: string, filter: Filter) =>
    select(what, filter, {}, ` ORDER BY ${table.id} FOR UPDATE`)

  return {
    insert: inserter(table, run, false),
    update: (filter, change, options) =>
      writeOne(filter, options, (compiled) => updating(change, compiled)),
    async turn(filter, change, options) {
      let before: Fields | null = null
      const after = await expected(filter, options, async (held) => {
        const compiled = compilation()
        const [update, { id, sql: from }] = [updating(change, compiled), table]
        const condition = matching(filter, held, compiled)
        // A row is its id, what it was, and what it is. No field has a dot.
        const sql = `WITH held AS (SELECT ${id} AS "the.one", ${columns} FROM ${from} WHERE ${condition} LIMIT 1 FOR UPDATE),
            written AS (${update} WHERE ${id} = (SELECT "the.one" FROM held) RETURNING ${columns})
          SELECT held.*, written.* FROM held, written`
        const [[, ...both] = []] = (await send(sql, compiled)).rows
        before = both.length > 0 ? record(both.slice(0, both.length / 2)) : null
        return before && record(both.slice(both.length / 2))
      })
      return before && after && [before, after]
    },
    async updateMany(filter, change) {
      const compiled = compilation()
      const sql = `${updating(change, compiled)}${where(filter, compiled)}`
      return (await send(sql, compiled)).count
    },
    delete: (filter, options) => writeOne(filter, options, () => `DELETE FROM ${table.sql}`),
    async deleteMany(filter) {
      const compiled = compilation()
      const sql = `DELETE FROM ${table.sql}${where(filter, compiled)} RETURNING ${columns}`
      return (await send(sql, compiled)).rows.map(record)
    },
    async keep(filter, options) {
      const kept = await expected(filter, options, async (held) => {
        const { count } = await select('1', filter, held, ' LIMIT 1 FOR SHARE')
        return count > 0 ? {} : null
      })
      return kept !== null
    },
    isThere: async (filter) => (await select('1', filter, {}, ' LIMIT 1')).count > 0,
    async lock(filter) {
      const { rows } = await all(table.columns[0]?.value ?? table.id, filter)
      return rows.map(([key]) => restored(String(key)))
    },
    holdAll: async (filter) => (await all(columns, filter)).rows.map(record),
  }
}

/** The condition of a record that matches, and holds what it must. */
function matching(filter: Filter, { expect, stored }: Holds, compiled: Compilation): string {
  const { table, parameters } = compiled
  const still = stored?.map(([column, text]) =>
    text === null ? `${column} IS NULL` : `${column} = ${parameters.bind(text)}`,
  )
  const held = still ? every(still) : compileExpected(expect, table, parameters)
  return every([compileFilter(filter, compiled), held])
}

/** As stored, it is the texts of columns. */
type Holds = Held<readonly (readonly [column: string, text: string | null])[]>

/** The one record to write, as a condition on the row. */
function target(filter: Filter, held: Holds, compiled: Compilation): string {
  const { id, sql } = compiled.table
  const condition = () => matching(filter, held, compiled)
  if (namesOne(filter)) return condition()
  // The lock makes sure that the row still meets the condition when it is written, and that another one is taken if it
  // no longer does.
  const order = rangeOrder(filter, compiled)
  const chosen = `SELECT ${id} FROM ${sql} WHERE ${condition()}${order} LIMIT 1 FOR UPDATE`
  return `${id} = (${chosen}) AND ${condition()}`
}

/**
 * The order of the index that serves a range, so that it is used. Once PostgreSQL plans for any value, it expects a third of
 * the records in a range, and reads all of them for the first one where there is none.
 */
function rangeOrder(filter: Filter, compiled: Compilation): string {
  if (!('field' in filter && /^[lg]te?$/.test(filter.op))) return ''
  const { field } = filter
  const keys = compiled.schema.indexes.flatMap(([first]) => (first?.field === field ? [first] : []))
  return orderBy(keys.slice(0, 1).map((key) => sorted(key, compiled)))
}

/** An `UPDATE` up to its condition. */
function updating(change: Change, { table, parameters }: Compilation): string {
  if (table.isAdopted) refuseFixed(changedPaths(change).map(topOf), table, ['nothing', 'inserts'])
  const assignments = compileChange(change, table, parameters)
  return `UPDATE ${table.sql} SET ${assignments || `${table.id} = ${table.id}`}`
}

/** Returns what does `write` to the record that matches, if it holds what is expected; see `asStored`. */
function expectingIn(schema: CollectionSchema, table: Table, whole: Reader, run: Run) {
  return async (
    filter: Filter,
    options: WriteOptions = {},
    write: (held: Holds) => Promise<Fields | null>,
  ) => {
    const find = async (fields: readonly string[]) => {
      const columns = fields.flatMap((field) => table.byField.get(field)?.sql ?? [])
      if (table.hasNulls) columns.push(identifier(NULLS))
      const texts = columns.map((column) => `${column}::text`)
      const parameters = new Parameters()
      const from = `FROM ${table.sql}${where(filter, { schema, table, parameters })} LIMIT 1`
      const sql = `SELECT ${[whole.columns, ...texts].join(', ')} ${from}`
      const [row] = (await run(parameters.statement(sql))).rows
      const stored = (now: Row) =>
        texts.map((text, at) => [text, now.at(at - texts.length) ?? null] as const)
      return row && { record: whole.record(row), stored: () => stored(row) }
    }
    return (await write(options)) ?? asStored(options.expect, write, find)
  }
}

/** The condition that top-level fields hold exactly these values; `undefined` means that the field is absent. */
function compileExpected(
  expected: Readonly<Fields> = {},
  table: Table,
  parameters: Parameters,
): string {
  return every(
    Object.entries(expected).map(([field, value]) => {
      const column = table.byField.get(field)
      if (!column) return value === undefined ? 'TRUE' : 'FALSE'
      if (value === undefined || value === null) return isLacking(column, value === null)
      const bound =
        column.kind === 'json'
          ? parameters.json(value)
          : parameters.bind(scalarText(value, column), column.boundAs)
      return `${column.value} = ${bound}`
    }),
  )
}

function isLacking(column: Column, isNull: boolean): string {
  const lacks = `${column.sql} IS NULL`
  if (column.absence !== 'either') return lacks
  const noted = `${literal(column.field)} = ANY (${identifier(NULLS)})`
  return `(${lacks} AND ${isNull ? noted : `NOT ${noted}`})`
}
