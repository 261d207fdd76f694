/**
 * Compare-and-set: writes that happen only if a row still holds what was read of it.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import type { Filter } from '../../../src/ports/filter.ts'
import type { CollectionSchema, Fields } from '../../../src/ports/store.ts'
import { bindJson } from './change.ts'
import { type Column, NULLS, type Table } from './columns.ts'
import { where } from './compile.ts'
import { dateText } from './dates.ts'
import { readerOf } from './rows.ts'
import { every, identifier, literal, Parameters } from './sql.ts'
import { stored } from './text.ts'
import type { Run } from './writes.ts'

/** What the row must hold. */
export type Condition = (parameters: Parameters) => string

/** Where to find the record that a write is about. */
interface Matching {
  readonly schema: CollectionSchema
  readonly table: Table
  readonly filter: Filter
  readonly run: Run
}

/**
 * Runs `write` with the condition that the row holds exactly these values in its top-level fields; `undefined` means that
 * the field is absent. Resolves to what `write` does: null if no row matches.
 */
export async function expecting(
  matching: Matching,
  expect: Readonly<Fields> = {},
  write: (held: Condition) => Promise<Fields | null>,
): Promise<Fields | null> {
  const done = await write((parameters) => compileExpected(expect, matching.table, parameters))
  if (done || Object.keys(expect).length === 0) return done
  const held = await storedAs(expect, matching)
  return held && write(held)
}

/**
 * The condition that a row stays as it is in the columns of `expect`, if its record has these values; null if not. A record
 * doesn't tell every value of PostgreSQL: of a number that JavaScript doesn't have, it has the nearest one.
 */
async function storedAs(
  expect: Readonly<Fields>,
  { schema, table, filter, run }: Matching,
): Promise<Condition | null> {
  const expected = table.columns.filter(({ field }) => Object.hasOwn(expect, field))
  if (expected.length === 0) return null
  const names = [...expected.map(({ sql }) => sql), ...(table.hasNulls ? [identifier(NULLS)] : [])]
  const texts = names.map((name) => `${name}::text`)
  const { columns, record } = readerOf(table)
  const parameters = new Parameters()
  const from = `FROM ${table.sql}${where(filter, { schema, table, parameters })} LIMIT 1`
  const sql = `SELECT ${columns}, ${texts.join(', ')} ${from}`
  const { rows } = await run(parameters.statement(sql))
  const [row] = rows
  if (!row) return null
  const read = await record(row)
  const isAsRead = ([field, value]: [string, unknown]) => isDeepStrictEqual(read[field], value)
  if (!Object.entries(expect).every(isAsRead)) return null
  const values = row.slice(-texts.length)
  return (bound) =>
    every(
      texts.map((text, at) => {
        const value = values[at] ?? null
        return value === null ? `${text} IS NULL` : `${text} = ${bound.bind(String(value))}`
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

function expectedValue(value: unknown, { kind, boundAs }: Column, parameters: Parameters): string {
  if (kind === 'json') return bindJson(value, parameters)
  const text = value instanceof Date ? dateText(value) : String(value)
  return parameters.bind(kind === 'text' ? stored(text) : text, boundAs)
}

function isLacking(column: Column, isNull: boolean): string {
  const lacks = `${column.sql} IS NULL`
  if (column.absence !== 'either') return lacks
  const noted = `${literal(column.field)} = ANY (${identifier(NULLS)})`
  return `(${lacks} AND ${isNull ? noted : `NOT ${noted}`})`
}
