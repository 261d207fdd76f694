/** What a table holds of a record: a column takes values of one type, and there is none for what no field declares. */

import type { ForeignValue, HeldRecord } from '../../../../src/ports/store/copying.ts'
import type { Fields } from '../../../../src/ports/store/records.ts'
import { anyDate } from '../../json-values.ts'
import type { Column, Table } from './columns.ts'

/** Makes of a record what `table` would hold of it. */
export function heldIn({ byField }: Table): (record: Fields) => HeldRecord {
  return (record) => {
    const fields = new Set([...Object.keys(record), ...byField.keys()])
    const all = [...fields].map((field) => {
      return { field, value: record[field], kept: valueIn(byField.get(field), record[field]) }
    })
    const kept = all.filter((one) => one.kept !== undefined)
    // A date that another program has written as a string is that date in every store.
    const lost = all.filter(({ kept, value }) => {
      return kept !== value && !(kept instanceof Date) && !isNone(value)
    })
    const values = lost.map(({ field, value, kept: other }): ForeignValue => {
      const becomes = other === null ? 'null' : 'nothing'
      return { id: String(record._id), field, type: typeOf(value), becomes }
    })
    return { record: Object.fromEntries(kept.map((one) => [one.field, one.kept])), values }
  }
}

function valueIn(column: Column | undefined, value: unknown): unknown {
  const given = isNone(value) ? null : value
  const kept = given === undefined || given === null ? given : column && typed(column, given)
  if (kept === undefined && column?.absence === 'null') return null
  const mayBeNull = column?.absence === 'null' || column?.absence === 'either'
  return kept === null && !mayBeNull ? undefined : kept
}

/** Whether it is NaN or infinite: every store reads that as null, and the source has told of it. */
function isNone(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

/** `value` as the type of the column has it; undefined if it hasn't. */
function typed({ kind, type }: Column, value: unknown): unknown {
  if (kind === 'json') return value
  if (kind === 'date') {
    const date = anyDate(value)
    return date instanceof Date && !Number.isNaN(date.getTime()) ? date : undefined
  }
  if (type === 'bigint') return Number.isInteger(value) ? value : undefined
  return typeof value === (kind === 'text' ? 'string' : kind) ? value : undefined
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'Missing'
  if (value === null) return 'Null'
  if (Array.isArray(value)) return 'Array'
  if (value instanceof Date) return 'Date'
  const name = typeof value
  return `${name[0]?.toUpperCase()}${name.slice(1)}`
}
