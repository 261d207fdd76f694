/** A collection's columns: one for each top-level field. */

import type { Shape } from '../../../../src/ports/store/shape.ts'
import type { Absence, CollectionSchema } from '../../../../src/ports/store/store.ts'
import { identifier, primaryKeyName, uniqueNames } from './sql.ts'

export interface Column {
  readonly field: string
  /** Its name, and the name as an identifier. */
  readonly name: string
  readonly sql: string
  readonly shape: Shape
  readonly type: string
  /** How its text becomes a value: as that of `shape` does. */
  readonly kind: ColumnKind
  /** Its value as reads return it and conditions compare it. */
  readonly value: string
  /** Its value as ranges and sorts compare it: strings by code point. */
  readonly ordered: string
  /** Of a date: whether `ordered` may have parts of a millisecond, which `value` has not. */
  readonly isFine?: true | undefined
  /** Of JSON: whether another program may have written its dates in a form of its own. */
  readonly hasAnyDates?: true
  /** The type of the parameters that it is compared with. */
  readonly boundAs: string
  /** The type of the parameters that are stored in it, where a cast to its own would cut what is too long. */
  readonly storedAs?: string | undefined
  /** Turns `jsonb` into its type. */
  fromJson(json: string): string
  /** How a record may lack the field; `either` if missing and null must be told apart. */
  readonly absence: Absence | 'either'
  /** Which writes may set it; all if undefined. The database itself makes the value in the others. */
  readonly takes?: 'inserts' | 'nothing' | undefined
  /** Whether an index of it has no place for NULL. Unknown for tables that this store keeps. */
  readonly isNotNull?: boolean | undefined
  /** Of another program's table: the SQL of the value that rows get where an `INSERT` gives none. */
  readonly byDefault?: string | undefined
}

/** What a column's text stands for. */
export type ColumnKind = keyof typeof TYPES

/** The types of the columns that fieldgate creates, each with the shape of the values that one of another model is read as. */
export const SHAPES = {
  text: { kind: 'string' },
  'double precision': { kind: 'number' },
  bigint: { kind: 'number', isInteger: true },
  boolean: { kind: 'boolean' },
  'timestamp(3) with time zone': { kind: 'date' },
  jsonb: { kind: 'mixed' },
} as const

type ColumnType = keyof typeof SHAPES

/** The column with the names of the fields that hold null and are not missing. */
export const NULLS = '_nulls'

export interface Table {
  readonly name: string
  readonly sql: string
  readonly id: string
  /** `_id` first, then as the model declares them. */
  readonly columns: readonly Column[]
  readonly byField: ReadonlyMap<string, Column>
  readonly hasNulls: boolean
  /** Whether another program created it: it has no search columns, and makes values where an `INSERT` gives none. */
  readonly isAdopted: boolean
  /** The function that folds strings for searches, as SQL. */
  readonly fold: string
  /** The fields of each unique constraint, and of each check of an adopted table, by its name. */
  readonly constraints: ReadonlyMap<string, readonly string[]>
}

/** The table of a collection in the database's schema `space`. */
export function tableOf(schema: CollectionSchema, space: string): Table {
  const { name, shape, unique } = schema
  const columns = [...shape.fields].map(([field, fieldShape]): Column => {
    const absence = field === '_id' ? 'never' : (schema.absence?.get(field) ?? 'either')
    return ownColumn(field, fieldShape, absence)
  })
  for (const column of columns) {
    if (column.name === NULLS || column.name.startsWith(SEARCH_PREFIX)) {
      throw new TypeError(`'${name}': the PostgreSQL store reserves the name '${column.name}'`)
    }
    if (SYSTEM.has(column.name) && !schema.adopted) {
      throw new TypeError(
        `'${name}': PostgreSQL reserves the column name '${column.name}'. Give the field another name`,
      )
    }
  }
  return {
    name,
    sql: tableSql(space, schema.adopted?.name ?? name),
    id: identifier('_id'),
    columns,
    byField: new Map(columns.map((column) => [column.field, column])),
    hasNulls: columns.some(({ absence }) => absence === 'either'),
    isAdopted: false,
    fold: `${identifier(space)}.${FOLD}`,
    constraints: new Map([
      [primaryKeyName(name), ['_id']],
      ...uniqueNames(name, unique).map((index, at) => [index, unique[at] ?? []] as const),
    ]),
  }
}

const SYSTEM: ReadonlySet<string> = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'])

export function tableSql(space: string, name: string): string {
  return `${identifier(space)}.${identifier(name)}`
}

export function ownColumn(field: string, shape: Shape, absence: Column['absence']): Column {
  const [sql, type, kind] = [identifier(field), typeOf(shape), kindOf(shape.kind)]
  const boundAs = kind === 'date' ? 'timestamptz' : type
  const same = { value: sql, ordered: sql, fromJson: (json: string) => json }
  return { field, name: field, sql, shape, type, kind, boundAs, absence, ...same }
}

export const SEARCH_PREFIX = '_search_'

/** The name of the SQL function that folds as `fold` does. */
export const FOLD = 'fieldgate_fold'

/** The type of the column that holds a field's values. */
export function typeOf(shape: Shape): ColumnType {
  if (shape.kind === 'number' && shape.isInteger) return 'bigint'
  return TYPES[kindOf(shape.kind)]
}

/** The type of each kind, for numbers that may be none of PostgreSQL's integers. */
export const TYPES = {
  text: 'text',
  number: 'double precision',
  boolean: 'boolean',
  date: 'timestamp(3) with time zone',
  json: 'jsonb',
} as const

export function kindOf(kind: Shape['kind']): ColumnKind {
  if (kind === 'string' || kind === 'id') return 'text'
  return kind === 'number' || kind === 'boolean' || kind === 'date' ? kind : 'json'
}
