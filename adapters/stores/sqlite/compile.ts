/**
 * Neutral filters and reads → SQL with every value bound. Pure; shared by every SQL store.
 *
 * @module
 */

import type { Filter, Scalar, SortKey } from '../../../src/ports/filter.ts'
import { fold } from '../../../src/ports/fold.ts'
import { type Place, placeOf, type Shape } from '../../../src/ports/shape.ts'
import type { CollectionSchema, Read } from '../../../src/ports/store.ts'

/** A value that SQLite binds. */
export type SqlValue = string | number | null

/** A piece of SQL and its values, in order. */
export interface Sql {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** A name as SQL writes it. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The column that holds the folded text of a searchable path. */
export function shadowColumn(path: string): string {
  return `search:${path}`
}

/** The expression of a path without lists; indexes are declared on the very same text. */
export function expressionOf(path: string, from = 'doc'): string {
  return path === '_id' && from === 'doc' ? '_id' : `json_extract(${from}, ${jsonPath(path)})`
}

/** A value as it compares with what `json_extract` gives. */
export function sqlValue(value: Scalar): SqlValue {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'boolean' ? Number(value) : value
}

/** The condition that `filter` means. */
export function compileFilter(schema: CollectionSchema, filter: Filter): Sql {
  switch (filter.op) {
    case 'and':
    case 'or': {
      if (filter.filters.length === 0) return sql(filter.op === 'and' ? '1' : '0')
      const parts = filter.filters.map((part) => compileFilter(schema, part))
      return joined(parts, filter.op === 'and' ? ' AND ' : ' OR ')
    }
    case 'ne':
      return not(compileFilter(schema, { ...filter, op: 'eq' }))
    case 'nin':
      return not(compileFilter(schema, { ...filter, op: 'in' }))
    case 'contains':
      return compileContains(schema, filter.field, filter.text)
    case 'matches':
      return onElements(schema, filter.field, (value) => sql(`matches(?, ${value})`, filter.pattern))
    case 'eq':
    case 'in': {
      const values = 'values' in filter ? filter.values : [filter.value]
      return compileIn(schema, filter.field, values)
    }
    default: {
      const { op, field, value } = filter
      if (value === null) return sql('0')
      return onElements(schema, field, (at, type, shape) =>
        typed(shape, type, value, sql(`${at} ${COMPARE[op]} ?`, sqlValue(value))),
      )
    }
  }
}

const COMPARE = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** The statement that reads `columns` of the records that match, in order. */
export function compileRead(schema: CollectionSchema, read: Read, columns: string): Sql {
  const filter = compileFilter(schema, read.filter)
  const limit = Math.min(read.limit, Number.MAX_SAFE_INTEGER)
  const order = orderOf(read.sort)
  if (!read.after) {
    const skip = read.skip ? ` OFFSET ${read.skip}` : ''
    return {
      text: `SELECT ${columns} FROM ${identifier(schema.name)} WHERE ${filter.text}${order} LIMIT ${limit}${skip}`,
      values: filter.values,
    }
  }
  // Each stretch after the position is one range of a fitting index, so the cost does not grow with depth.
  const stretches = stretchesAfter(read.sort, read.after).map((stretch) => ({
    text: `SELECT * FROM (SELECT ${columns} FROM ${identifier(schema.name)} WHERE ${filter.text} AND ${stretch.text}${order} LIMIT ${limit})`,
    values: [...filter.values, ...stretch.values],
  }))
  return {
    text: `${stretches.map((stretch) => stretch.text).join(' UNION ALL ')} LIMIT ${limit}`,
    values: stretches.flatMap((stretch) => stretch.values),
  }
}

function orderOf(sort: readonly SortKey[]): string {
  if (sort.length === 0) return ''
  const keys = sort.map(
    ({ field, descending }) => `${expressionOf(field)}${descending ? ' DESC' : ''}`,
  )
  return ` ORDER BY ${keys.join(', ')}`
}

/** What follows a position, in order: first where all keys but the last are equal, then all but two, … */
function stretchesAfter(sort: readonly SortKey[], after: readonly Scalar[]): Sql[] {
  const equal = (at: number): Sql => {
    const value = after[at] ?? null
    const expression = expressionOf(sort[at]?.field ?? '_id')
    return value === null
      ? sql(`${expression} IS NULL`)
      : sql(`${expression} = ?`, sqlValue(value))
  }
  const beyond = (at: number): Sql[] => {
    const key = sort[at]
    const value = after[at] ?? null
    if (!key) return []
    const expression = expressionOf(key.field)
    if (value === null) return key.descending ? [] : [sql(`${expression} IS NOT NULL`)]
    const further = sql(`${expression} ${key.descending ? '<' : '>'} ?`, sqlValue(value))
    return key.descending ? [further, sql(`${expression} IS NULL`)] : [further]
  }
  return sort
    .map((_, at) => at)
    .reverse()
    .flatMap((at) => {
      const same = sort.slice(0, at).map((_, before) => equal(before))
      return beyond(at).map((end) => joined([...same, end], ' AND '))
    })
}

function compileIn(schema: CollectionSchema, field: string, values: readonly Scalar[]): Sql {
  const present = values.filter((value): value is Exclude<Scalar, null> => value !== null)
  const matching =
    present.length === 0
      ? undefined
      : onElements(schema, field, (at, type, shape) =>
          shape.kind === 'mixed'
            ? joined(
                present.map((value) =>
                  typed(shape, type, value, sql(`${at} = ?`, sqlValue(value))),
                ),
                ' OR ',
              )
            : isOneOf(at, present),
        )
  const missing = present.length < values.length ? isMissing(schema, field) : undefined
  const parts = [matching, missing].filter((part): part is Sql => part !== undefined)
  return parts.length === 0 ? sql('0') : joined(parts, ' OR ')
}

function isOneOf(at: string, values: readonly Exclude<Scalar, null>[]): Sql {
  const [first] = values
  if (values.length === 1 && first !== undefined) return sql(`${at} = ?`, sqlValue(first))
  // One parameter however many values: D1 allows a hundred.
  return sql(`${at} IN (SELECT value FROM json_each(?))`, JSON.stringify(values.map(sqlValue)))
}

/** Null or missing; a list may also hold a null. */
function isMissing(schema: CollectionSchema, field: string): Sql {
  const { parts } = placeAt(schema, field)
  const whole = sql(`${expressionOf(parts[0] ?? field)} IS NULL`)
  if (parts.length === 1) return whole
  return joined([whole, onElements(schema, field, (at) => sql(`${at} IS NULL`))], ' OR ')
}

function compileContains(schema: CollectionSchema, field: string, text: string): Sql {
  if (!schema.searchable.includes(field)) {
    throw new TypeError(`'${schema.name}' was not declared searchable by '${field}'`)
  }
  const column = identifier(shadowColumn(field))
  const term = fold(text)
  return placeAt(schema, field).parts.length === 1
    ? sql(`instr(${column}, ?) > 0`, term)
    : sql(`EXISTS (SELECT 1 FROM json_each(${column}) WHERE instr(value, ?) > 0)`, term)
}

/** A condition on the value at a path, or on one of the elements where lists are on the way. */
function onElements(
  schema: CollectionSchema,
  field: string,
  condition: (value: string, type: string, shape: Shape) => Sql,
): Sql {
  const { parts, shape } = placeAt(schema, field)
  if (parts.length === 1) {
    const type = field === '_id' ? `'text'` : `json_type(doc, ${jsonPath(field)})`
    return condition(expressionOf(field), type, shape)
  }
  const lists = parts.slice(0, -1).map((part, at) => {
    const from = at === 0 ? 'doc' : `e${at - 1}.value`
    return `json_each(${from}, ${jsonPath(part)}) AS e${at}`
  })
  const element = `e${lists.length - 1}`
  const rest = parts.at(-1) ?? ''
  const inner =
    rest === ''
      ? condition(`${element}.value`, `${element}.type`, shape)
      : condition(
          expressionOf(rest, `${element}.value`),
          `json_type(${element}.value, ${jsonPath(rest)})`,
          shape,
        )
  return { text: `EXISTS (SELECT 1 FROM ${lists.join(', ')} WHERE ${inner.text})`, values: inner.values }
}

/** On a mixed field a value only compares with values of its own type. */
function typed(shape: Shape, type: string, value: Exclude<Scalar, null>, condition: Sql): Sql {
  if (shape.kind !== 'mixed') return condition
  const types =
    typeof value === 'number'
      ? `'integer', 'real'`
      : typeof value === 'boolean'
        ? `'true', 'false'`
        : `'text'`
  return joined([sql(`${type} IN (${types})`), condition], ' AND ')
}

function placeAt(schema: CollectionSchema, field: string): Place {
  const place = placeOf(schema.shape, field)
  if (!place) throw new TypeError(`'${schema.name}' has no field '${field}'`)
  return place
}

function jsonPath(path: string): string {
  const keys = path.split('.').map((key) => `."${key}"`)
  return `'$${keys.join('').replaceAll("'", "''")}'`
}

function sql(text: string, ...values: SqlValue[]): Sql {
  return { text, values }
}

function joined(parts: readonly Sql[], by: string): Sql {
  const [only] = parts
  if (parts.length === 1 && only) return only
  return {
    text: `(${parts.map((part) => part.text).join(by)})`,
    values: parts.flatMap((part) => part.values),
  }
}

/** SQL's NOT of an unknown is unknown; a missing value must count as different. */
function not(condition: Sql): Sql {
  return { text: `NOT ifnull(${condition.text}, 0)`, values: condition.values }
}
