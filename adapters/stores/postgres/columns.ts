/**
 * A collection's columns: one for each top-level field.
 *
 * @module
 */

import type { Shape } from '../../../src/ports/shape.ts'
import type { Absence, CollectionSchema } from '../../../src/ports/store.ts'
import { identifier } from './sql.ts'

/** The column of one field. */
export interface Column {
  readonly field: string
  /** Its name, and the name as an identifier. */
  readonly name: string
  readonly sql: string
  readonly shape: Shape
  /** The type that fieldgate gives it. */
  readonly type: ColumnType
  /** How a record may lack the field; `either` if missing and null must be told apart. */
  readonly absence: Absence | 'either'
}

/** The types of columns. */
export type ColumnType =
  | 'text'
  | 'double precision'
  | 'bigint'
  | 'boolean'
  | 'timestamp(3) with time zone'
  | 'jsonb'

/** The column with the names of the fields that hold null and are not missing. */
export const NULLS = '_nulls'

/** A collection's table and columns. */
export interface Table {
  readonly name: string
  /** With its schema, as SQL. */
  readonly sql: string
  /** The column of `_id`, as SQL. */
  readonly id: string
  /** `_id` first, then as the model declares them. */
  readonly columns: readonly Column[]
  readonly byField: ReadonlyMap<string, Column>
  /** Whether it has a column of nulls. */
  readonly hasNulls: boolean
  /** The function that folds strings for searches, as SQL. */
  readonly fold: string
}

/** The table of a collection in the database's schema `space`. */
export function tableOf(schema: CollectionSchema, space: string): Table {
  const columns = [...schema.shape.fields].map(([field, shape]): Column => {
    const type = typeOf(shape)
    const absence = field === '_id' ? 'never' : (schema.absence?.get(field) ?? 'either')
    return { field, name: field, sql: identifier(field), shape, type, absence }
  })
  for (const { name } of columns) {
    if (name === NULLS || name.startsWith(SEARCH_PREFIX)) {
      throw new TypeError(`'${schema.name}': the PostgreSQL store reserves the name '${name}'`)
    }
  }
  return {
    name: schema.name,
    sql: `${identifier(space)}.${identifier(schema.name)}`,
    id: identifier('_id'),
    columns,
    byField: new Map(columns.map((column) => [column.field, column])),
    fold: `${identifier(space)}.${FOLD}`,
    hasNulls: columns.some(({ absence }) => absence === 'either'),
  }
}

/** The prefix of the names of search columns. */
export const SEARCH_PREFIX = '_search_'

/** The name of the SQL function that folds as `fold` does. */
export const FOLD = 'fieldgate_fold'

function typeOf(shape: Shape): ColumnType {
  switch (shape.kind) {
    case 'string':
    case 'id':
      return 'text'
    case 'number':
      return shape.isInteger ? 'bigint' : 'double precision'
    case 'boolean':
      return 'boolean'
    case 'date':
      return 'timestamp(3) with time zone'
    default:
      return 'jsonb'
  }
}
