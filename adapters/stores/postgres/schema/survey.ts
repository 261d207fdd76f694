/**
 * Reads of a table that has not been prepared for the model: by `fieldgate check` and `fieldgate copy`. They return what
 * the table really holds.
 *
 * @module
 */

import type { Shape } from '../../../../src/ports/shape.ts'
import {
  type Column,
  type ColumnType,
  NULLS,
  ownColumn,
  SEARCH_PREFIX,
  type Table,
} from '../layout/columns.ts'
import type { ExistingColumn, ExistingTable } from './catalog.ts'

/** `table` with the columns that exist: others are NULL, and those that no field has come too. */
export function surveyed(table: Table, { columns }: ExistingTable): Table {
  const declared = table.columns.map((column) => actual(column, columns.get(column.name)))
  const others = [...columns]
    .filter(
      ([name]) => !table.byField.has(name) && name !== NULLS && !name.startsWith(SEARCH_PREFIX),
    )
    .map(([name, existing]) => actual(ownColumn(name, SHAPES.text, 'text', 'missing'), existing))
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
  const { field, type, absence } = column
  if (existing?.type === type) return column
  if (existing && isKnown(existing.type)) {
    return ownColumn(field, SHAPES[existing.type], existing.type, absence)
  }
  const value = existing ? `${column.sql}::text` : `NULL::${type}`
  const text = existing ? ownColumn(field, SHAPES.text, 'text', absence) : column
  return { ...text, value, ordered: value }
}

function isKnown(type: string): type is ColumnType {
  return Object.hasOwn(SHAPES, type)
}
