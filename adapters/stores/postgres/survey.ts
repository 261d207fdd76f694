/**
 * Reads of a table that has not been prepared for the model: by `fieldgate check` and `fieldgate copy`. They return what
 * the table really holds.
 *
 * @module
 */

import type { Shape } from '../../../src/ports/shape.ts'
import type { ExistingColumn, ExistingTable } from './catalog.ts'
import { type Column, type ColumnType, NULLS, SEARCH_PREFIX, type Table } from './columns.ts'
import { identifier } from './sql.ts'

/** `table` with the columns that exist: others are NULL, and those that no field has come too. */
export function surveyed(table: Table, { columns }: ExistingTable): Table {
  const declared = table.columns.map((column) => actual(column, columns.get(column.name)))
  const others = [...columns]
    .filter(
      ([name]) => !table.byField.has(name) && name !== NULLS && !name.startsWith(SEARCH_PREFIX),
    )
    .map(([name, existing]) => actual(plainColumn(name), existing))
  const all = [...declared, ...others].map((column) =>
    column.absence === 'either' && !columns.has(NULLS)
      ? { ...column, absence: 'missing' as const }
      : column,
  )
  return {
    ...table,
    columns: all,
    byField: new Map(all.map((column) => [column.field, column])),
    hasNulls: columns.has(NULLS),
  }
}

function plainColumn(name: string): Column {
  const shape = { kind: 'string' } as const
  return { field: name, name, sql: identifier(name), shape, type: 'text', absence: 'missing' }
}

/** How values of each type are read; everything else is read as a string. */
const SHAPES: Readonly<Record<ColumnType, Shape>> = {
  text: { kind: 'string' },
  'double precision': { kind: 'number' },
  bigint: { kind: 'number', isInteger: true },
  boolean: { kind: 'boolean' },
  'timestamp(3) with time zone': { kind: 'date' },
  jsonb: { kind: 'mixed' },
}

function actual(column: Column, existing: ExistingColumn | undefined): Column {
  if (!existing) return { ...column, sql: `NULL::${column.type}` }
  if (existing.type === column.type) return column
  if (!isKnown(existing.type)) return { ...column, sql: `${column.sql}::text`, ...asType('text') }
  return { ...column, ...asType(existing.type) }
}

function isKnown(type: string): type is ColumnType {
  return Object.hasOwn(SHAPES, type)
}

function asType(type: ColumnType): Pick<Column, 'type' | 'shape'> {
  return { type, shape: SHAPES[type] }
}
