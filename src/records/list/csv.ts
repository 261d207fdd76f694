/**
 * Records as CSV (RFC 4180): a header row, then a row for each record.
 *
 * @module
 */

import { isFields } from '../../model/writable.ts'
import { placeOf } from '../../ports/shape.ts'
import type { Fields, Projection } from '../../ports/store.ts'
import type { Population, Resource, View } from '../setup/resource.ts'

/** The text of some records of a file; `isFirst` if the file begins with them. */
export type TextOf = (records: readonly Fields[], isFirst: boolean) => string

/** A field, or one inside a reference that is filled in. */
type Column = readonly string[]

/** Rows of the fields that `view` shows; references that are filled in have a column for each field of their records. */
export function csvOf({ model, lean }: Resource, view: View): TextOf {
  const declared = columnsOf(model, view)
  let columns = declared
  return (records, isFirst) => {
    // What `output` makes of records is seen in the first ones.
    if (isFirst && model.output && !lean && !view.chosen) columns = columnsIn(records, declared)
    const rows = records.map((record) => columns.map((path) => cellOf(inside(record, path))))
    const header = columns.map((path) => quoted(path.join('.')))
    return [...(isFirst ? [header] : []), ...rows].map((row) => `${row.join(',')}\r\n`).join('')
  }
}

/** The columns of a view, or of a reference that is filled in. */
function columnsOf(
  model: Resource['model'],
  { select, chosen, populate = [] }: Pick<Population, 'select' | 'chosen' | 'populate'>,
): readonly Column[] {
  return namesIn(model, chosen ?? select).flatMap((name): readonly Column[] => {
    const filled = populate.find(({ path }) => path === name)
    const isList = (placeOf(model.shape, name)?.parts.length ?? 1) > 1
    if (!filled || isList) return [[...name.split('.')]]
    return columnsOf(filled.target, filled).map((column) => [...name.split('.'), ...column])
  })
}

/** The names of what is shown, `_id` first. */
function namesIn(model: Resource['model'], select: Projection | undefined): readonly string[] {
  if (select && 'include' in select) return [...new Set(['_id', ...select.include])]
  const hidden = select?.exclude ?? []
  const shown = [...model.shape.fields.keys()].filter((name) => !hidden.includes(name))
  return [...new Set(['_id', ...shown])]
}

function columnsIn(records: readonly Fields[], declared: readonly Column[]): readonly Column[] {
  const names = new Set(records.filter(isFields).flatMap((record) => Object.keys(record)))
  return names.size > 0 ? [...names].map((name) => [name]) : declared
}

function inside(value: unknown, path: Column): unknown {
  let at = value
  for (const key of path) {
    // A reference that was not filled in is an id.
    if (typeof at === 'string') return key === '_id' ? at : undefined
    at = isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return at
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') return quoted(JSON.stringify(value))
  // A spreadsheet would run it as a formula.
  if (typeof value === 'string') return quoted(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value)
  return String(value)
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
