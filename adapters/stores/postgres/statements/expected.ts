/**
 * What a row must hold to be written.
 *
 * @module
 */

import type { Filter } from '../../../../src/ports/filter.ts'
import type { CollectionSchema, Fields } from '../../../../src/ports/store.ts'
import { expecting } from '../../expecting.ts'
import { every } from '../../sql/filter.ts'
import { type Column, NULLS, type Table } from '../layout/columns.ts'
import { type Row, type Run, readerOf } from '../layout/rows.ts'
import { identifier, literal, Parameters } from '../layout/sql.ts'
import { scalarText } from './change.ts'
import { where } from './filter.ts'

/** What the row must hold. */
export type Condition = (parameters: Parameters) => string

/** Where to find the record that a write is about. */
interface Matching {
  readonly schema: CollectionSchema
  readonly table: Table
  readonly filter: Filter
  readonly run: Run
}

/** Runs `write` for the record that matches, if it holds what is expected; see `expecting`. */
export function writeExpecting(
  { schema, table, filter, run }: Matching,
  expect: Readonly<Fields> | undefined,
  write: (held: Condition) => Promise<Fields | null>,
): Promise<Fields | null> {
  return expecting<Condition, Fields>(expect, {
    asWritten: (values) => (parameters) => compileExpected(values, table, parameters),

    async find(fields) {
      const columns = fields.flatMap((field) => table.byField.get(field)?.sql ?? [])
      if (table.hasNulls) columns.push(identifier(NULLS))
      const texts = columns.map((column) => `${column}::text`)
      const whole = readerOf(table)
      const parameters = new Parameters()
      const from = `FROM ${table.sql}${where(filter, { schema, table, parameters })} LIMIT 1`
      const sql = `SELECT ${[whole.columns, ...texts].join(', ')} ${from}`
      const [row] = (await run(parameters.statement(sql))).rows
      if (!row) return undefined
      const held = () => areStill(texts, row.slice(row.length - texts.length))
      return { record: whole.record(row), held }
    },

    write,
  })
}

function areStill(columns: readonly string[], texts: Row): Condition {
  return (parameters) =>
    every(
      columns.map((column, at) => {
        const text = texts[at] ?? null
        return text === null ? `${column} IS NULL` : `${column} = ${parameters.bind(String(text))}`
      }),
    )
}

/** The condition that top-level fields hold exactly these values; `undefined` means that the field is absent. */
function compileExpected(expected: Readonly<Fields>, table: Table, parameters: Parameters): string {
  return every(
    Object.entries(expected).map(([field, value]) => {
      const column = table.byField.get(field)
      if (!column) return value === undefined ? 'TRUE' : 'FALSE'
      if (value === undefined || value === null) return isLacking(column, value === null)
      return `${column.value} = ${expectedValue(value, column, parameters)}`
    }),
  )
}

function expectedValue(value: unknown, column: Column, parameters: Parameters): string {
  if (column.kind === 'json') return parameters.json(value)
  return parameters.bind(scalarText(value, column), column.boundAs)
}

function isLacking(column: Column, isNull: boolean): string {
  const lacks = `${column.sql} IS NULL`
  if (column.absence !== 'either') return lacks
  const noted = `${literal(column.field)} = ANY (${identifier(NULLS)})`
  return `(${lacks} AND ${isNull ? noted : `NOT ${noted}`})`
}
