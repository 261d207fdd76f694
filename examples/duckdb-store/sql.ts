/**
 * What is DuckDB's own in SQL: how it reads JSON, sorts and computes.
 *
 * @module
 */

import {
  type AggregateRead,
  type CollectionSchema,
  placeOf,
  type Scalar,
  type Shape,
} from 'fieldgate/ports'
import { type JsonQuery, type JsonReader, selectGroups } from 'fieldgate/sql'

/** `name` as an identifier. */
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
/** `text` as a string. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** A dotted path as a JSON pointer. */
function pointer(path: string): string {
  if (path === '') return "'$'"
  const keys = path.split('.').map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1'))
  return literal(keys.map((key) => `/${key}`).join(''))
}

const TYPES = { string: ['VARCHAR'], number: ['UBIGINT', 'BIGINT', 'DOUBLE'], boolean: ['BOOLEAN'] }

/** How DuckDB reads JSON. */
export const duckdb: JsonReader = {
  record: 'doc',
  folded: 'folded',
  id: 'id',
  parameter: (number) => `$${number}`,
  at: (json, path) => `json_extract(${json}, ${pointer(path)})`,
  textAt: (json, path) => `json_extract_string(${json}, ${pointer(path)})`,
  number: (text) => `TRY_CAST(${text} AS DOUBLE)`,
  isOfType: (json, type) => `json_type(${json}) IN (${TYPES[type].map(literal).join(', ')})`,
  some: (list, element, condition) =>
    `list_bool_or(list_transform(json_extract(${list}, '$[*]'), lambda ${element}: ${condition}))`,
  contains: (text, part) => `contains(${text}, ${part})`,
  inOrder: (value, descending) => `${value} ${descending ? 'DESC NULLS LAST' : 'NULLS FIRST'}`,
}

const LENGTHS = { year: 4, month: 7, day: 10 }

/** The statement of groups, and what makes values of its rows. */
export function groups(
  read: AggregateRead,
  { name, shape }: CollectionSchema,
  query: JsonQuery,
): { sql: string; valuesOf(row: readonly unknown[]): Scalar[] } {
  const kindOf = (field: string) => placeOf(shape, field)?.shape.kind
  const from = `${identifier(name)}${query.where(read.filter)}`
  const sql = selectGroups(read, from, [], {
    key({ field, part }) {
      const value = query.value(field)
      const key = part ? `substr(${value}, 1, ${LENGTHS[part]})` : value
      return { sql: key, ordered: key }
    },
    measure({ op, field }) {
      const value = query.value(field)
      const measured = op === 'sum' || op === 'avg' ? added(op, value) : `${op}(${value})`
      return { sql: measured, ordered: kindOf(field) === 'date' ? measured : rounded(op, measured) }
    },
    order: duckdb.inOrder,
    count: String,
  })
  const kinds = [...read.by, ...read.measures].map((one) =>
    'field' in one && !('part' in one) ? kindOf(one.field) : undefined,
  )
  return { sql, valuesOf: (row) => row.map((value, at) => scalarOf(value, kinds[at])) }
}

function scalarOf(value: unknown, kind: Shape['kind'] | undefined): Scalar {
  if (typeof value !== 'string')
    return typeof value === 'bigint' ? Number(value) : (value as Scalar)
  if (kind === 'boolean') return value === 'true'
  return kind === 'date' ? new Date(value) : value
}

/** Whole numbers are added as integers, of which DuckDB has those of 128 bits. */
function added(op: 'sum' | 'avg', value: string): string {
  const isWhole = `${value} = trunc(${value}) AND abs(${value}) < 1e30`
  const whole = `coalesce(sum(TRY_CAST(${value} AS HUGEINT)) FILTER (${isWhole}), 0)`
  const sum = `(CAST(${whole} AS DOUBLE) + coalesce(fsum(${value}) FILTER (NOT (${isWhole})), 0))`
  return op === 'sum' ? sum : `${sum} / nullif(count(${value}), 0)`
}

/** As `roundedMeasure` shows it. */
function rounded(op: string, measured: string): string {
  const isWhole = `${op !== 'avg'} AND ${measured} = trunc(${measured}) AND abs(${measured}) <= ${2 ** 53}`
  return `CASE WHEN ${isWhole} THEN ${measured} WHEN isfinite(${measured}) THEN CAST(format('{:.11e}', ${measured}) AS DOUBLE) END`
}
