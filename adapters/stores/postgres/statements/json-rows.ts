/**
 * Rows as the JSON of records, without making the records first: that takes two to six times as long.
 *
 * @module
 */

import {
  type Declared,
  declaredAt,
  onlyDeclared,
  withDefaults,
} from '../../../../src/ports/declared.ts'
import type { Column, Table } from '../layout/columns.ts'
import { isoFrom } from '../layout/dates.ts'
import { nullsIn, parserOf, type Row } from '../layout/rows.ts'
import { restored } from '../layout/text.ts'

/**
 * Writes rows that hold all columns of `table` as JSON, without members that are not declared; with the declared
 * defaults that they lack if `isFilled`.
 */
export function jsonWriter(
  table: Table,
  declared: Declared | undefined,
  isFilled: boolean,
): (row: Row) => string {
  const members = inOrder(table.columns).map(({ column, at }) => {
    const inside = declared && declaredAt(declared, column.field)
    const shown = (value: unknown): unknown => {
      if (!inside) return value
      const kept = onlyDeclared(inside, value)
      return isFilled ? withDefaults(inside, kept) : kept
    }
    const byDefault = isFilled ? declared?.defaults?.get(column.field) : undefined
    return memberWriter(column, at, { shown, byDefault })
  })
  return (row) => {
    const nulls = table.hasNulls ? nullsIn(row[table.columns.length]) : undefined
    let json = ''
    for (const member of members) json = joined(json, member(row, nulls))
    return `{${json}}`
  }
}

function joined(json: string, part: string | undefined): string {
  if (part === undefined) return json
  return json === '' ? part : `${json},${part}`
}

/** How one member is shown. */
interface Shown {
  /** What of a stored JSON value is shown. */
  shown(value: unknown): unknown
  /** The value where the record lacks the member. */
  readonly byDefault: unknown
}

/** Writes one member with its name, or nothing if the record lacks it. */
function memberWriter(
  column: Column,
  at: number,
  { shown, byDefault }: Shown,
): (row: Row, nulls: ReadonlySet<string> | undefined) => string | undefined {
  const { field, absence } = column
  const start = `${JSON.stringify(field)}:`
  const write = writerOf(column, shown)
  const named = (json: string | undefined) => json && start + json
  const lacking = named(JSON.stringify(byDefault))
  return (row, nulls) => {
    const text = row[at]?.toString()
    if (text === undefined) {
      return absence === 'null' || nulls?.has(field) ? `${start}null` : lacking
    }
    return named(write(text))
  }
}

/** `_id`, then names that are whole numbers, as objects have them, then the others. */
function inOrder(columns: readonly Column[]): { column: Column; at: number }[] {
  const all = columns.map((column, at) => ({ column, at }))
  const rank = ({ field }: Column) =>
    field === '_id' ? -1 : isIndex(field) ? Number(field) : Infinity
  return all.sort((a, b) => {
    const [first, second] = [rank(a.column), rank(b.column)]
    return first === second ? a.at - b.at : first - second
  })
}

function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(name) && Number(name) < 2 ** 32 - 1
}

type Write = (text: string) => string | undefined

function writerOf(column: Column, shown: Shown['shown']): Write {
  switch (column.kind) {
    case 'text':
      return (text) => JSON.stringify(restored(text))
    case 'number':
      // PostgreSQL writes 1e+15 and 1e-07 where JavaScript writes 1000000000000000 and 1e-7.
      return (text) => (PLAIN.test(text) ? text : JSON.stringify(Number(text)))
    case 'boolean':
      return (text) => (text === 't' ? 'true' : 'false')
    case 'json': {
      const parse = parserOf(column)
      return (text) => JSON.stringify(shown(parse(text)))
    }
    default:
      return (text) => `"${isoFrom(text)}"`
  }
}

const PLAIN = /^-?\d+(?:\.\d+)?$/
