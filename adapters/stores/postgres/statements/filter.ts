/**
 * The neutral filter as SQL.
 *
 * @module
 */

import { everything, type Filter, type Scalar } from '../../../../src/ports/filter.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import type { Table } from '../layout/columns.ts'
import { dateText, FIRST, isoText, LAST } from '../layout/dates.ts'
import { type Collected, found, jsonOperand, listAt, type Operand } from '../layout/operands.ts'
import { arrayText, every, type Parameters, some } from '../layout/sql.ts'
import { stored } from '../layout/text.ts'
import { containsText } from './search.ts'

/** What a filter is compiled with. */
export interface Compilation extends Collected {
  readonly parameters: Parameters
}

type Sign = '>' | '>=' | '<' | '<='

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** `filter` as a condition, which is never NULL if it is negated. */
export function compileFilter(filter: Filter, compilation: Compilation): string {
  switch (filter.op) {
    case 'and':
      return every(filter.filters.map((one) => compileFilter(one, compilation)))
    case 'or':
      return some(filter.filters.map((one) => compileFilter(one, compilation)))
    case 'eq':
      return among(filter.field, [filter.value], compilation)
    case 'ne':
      return not(among(filter.field, [filter.value], compilation))
    case 'in':
      return among(filter.field, filter.values, compilation)
    case 'nin':
      return not(among(filter.field, filter.values, compilation))
    case 'contains':
      return containsText(filter.field, filter.text, compilation)
    case 'matches':
      throw new TypeError('the PostgreSQL store has no patterns')
    default:
      return compare(SIGNS[filter.op], filter.field, filter.value, compilation)
  }
}

/** The `WHERE` of the records that match and meet the conditions in `more`; empty if all do. */
export function where(filter: Filter, compiled: Compilation, more: readonly string[] = []): string {
  const conditions = filter === everything ? more : [compileFilter(filter, compiled), ...more]
  const condition = every(conditions)
  return condition === 'TRUE' ? '' : ` WHERE ${condition}`
}

/** Whether only the record with a certain id can match. */
export function namesOne(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.some(namesOne)
  return filter.op === 'eq' && filter.field === '_id' && filter.value !== null
}

/** Whether only records with certain ids, or with a certain unique value, can match. */
export function namesUnique({ unique }: CollectionSchema, filter: Filter): boolean {
  const named = namedIn(filter)
  return named.has('_id') || unique.some((fields) => fields.every((field) => named.has(field)))
}

/** The fields that must have one of certain values. */
function namedIn(filter: Filter): ReadonlySet<string> {
  if (filter.op === 'and') return new Set(filter.filters.flatMap((one) => [...namedIn(one)]))
  const isNamed =
    (filter.op === 'eq' && filter.value !== null) ||
    (filter.op === 'in' && filter.values.length > 0 && !filter.values.includes(null))
  return new Set(isNamed ? [filter.field] : [])
}

/** The condition that a field's value is one of `values`. */
function among(field: string, values: readonly Scalar[], compilation: Compilation): string {
  const others = values.filter((value) => value !== null && isStorable(value))
  const conditions: string[] = []
  if (values.includes(null)) conditions.push(found(field, compilation, isLacking))
  if (others.length > 0) {
    const isThere = found(field, compilation, (one) => isIn(one, others, compilation.parameters))
    conditions.push(every([...contained(field, others, compilation), isThere]))
  }
  return some(conditions)
}

/** Values up to which an index of a list is asked for each. */
const MOST_CONTAINED = 50

/** For a list, the same condition in the form that an index serves. */
function contained(field: string, values: readonly Scalar[], compilation: Compilation): string[] {
  const list = values.length <= MOST_CONTAINED ? listAt(field, compilation) : undefined
  if (list === undefined) return []
  const bound = values.map((value) => {
    const plain = value instanceof Date ? isoText(value) : value
    const json = JSON.stringify(typeof plain === 'string' ? stored(plain) : plain)
    return `${list} @> ${compilation.parameters.bind(json, 'jsonb')}`
  })
  return [some(bound)]
}

function isLacking({ sql, ordered, isFine, kind }: Operand): string {
  if (isFine) return `${ordered} IS NULL`
  return kind === 'mixed' ? `NULLIF(${sql}, 'null') IS NULL` : `${sql} IS NULL`
}

function isIn(operand: Operand, values: readonly Scalar[], parameters: Parameters): string {
  if (operand.isFine) {
    const dates = values.filter((value) => value instanceof Date)
    return some(dates.map((date) => compareFine(operand, '=', date, parameters)))
  }
  const texts = values.flatMap((value) => boundText(operand, value) ?? [])
  const [only] = texts
  if (only === undefined) return 'FALSE'
  const { type } = operand
  if (texts.length === 1) return `${operand.sql} = ${parameters.bind(only, type)}`
  return `${operand.sql} = ANY (${parameters.bind(arrayText(texts), `${type}[]`)})`
}

function compare(sign: Sign, field: string, value: Scalar, compilation: Compilation): string {
  if (value === null || !isStorable(value)) return 'FALSE'
  return found(field, compilation, (operand) => {
    const { table, parameters } = compilation
    if (operand.kind !== 'mixed') return comparison(operand, sign, value, parameters)
    const json = value instanceof Date ? isoText(value) : value
    return comparison(ofType(operand, json, table), sign, json, parameters)
  })
}

/** A mixed value compares with values of its own type alone. */
function ofType({ sql }: Operand, value: Scalar, table: Table): Operand {
  return jsonOperand(
    sql,
    typeof value === 'number' || typeof value === 'boolean' ? (typeof value as 'number') : 'string',
    table,
  )
}

/** `operand` compared with a value that is not null. */
export function comparison(
  operand: Operand,
  sign: Sign | '=',
  value: NonNullable<Scalar>,
  parameters: Parameters,
): string {
  const { type, sql, ordered } = operand
  if (operand.isFine && value instanceof Date) {
    return compareFine(operand, sign, value, parameters)
  }
  // Both sides as JavaScript's numbers: no integer equals 1.5, but some lie beyond it.
  if (typeof value === 'number' && !fits(type, value)) {
    const bound = parameters.bind(String(value), 'double precision')
    return sign === '=' ? 'FALSE' : `${sql}::double precision ${sign} ${bound}`
  }
  const text = boundText(operand, value)
  if (text === undefined) return 'FALSE'
  return `${sign === '=' ? sql : ordered} ${sign} ${parameters.bind(text, type)}`
}

/** A comparison of what a date is without parts of a millisecond, written so that an index on the column serves it. */
function compareFine(
  { sql, ordered, type }: Operand,
  sign: Sign | '=',
  value: Date,
  parameters: Parameters,
): string {
  const bound = (ms: number) => parameters.bind(dateText(new Date(ms)), type)
  const ms = value.getTime()
  if (ms >= Date.parse(LAST) || ms <= Date.parse(FIRST)) return `${sql} ${sign} ${bound(ms)}`
  if (sign === '=') return `(${ordered} >= ${bound(ms)} AND ${ordered} < ${bound(ms + 1)})`
  const isAfter = sign === '>' || sign === '<='
  return `${ordered} ${sign.startsWith('>') ? '>=' : '<'} ${bound(isAfter ? ms + 1 : ms)}`
}

/** A value as the text of its type; undefined if no stored value can equal it. */
function boundText(operand: Operand, value: Scalar): string | undefined {
  if (operand.kind === 'mixed') {
    return JSON.stringify(typeof value === 'string' ? stored(value) : value)
  }
  if (value instanceof Date) return dateAs(operand, value)
  const kind = operand.kind === 'id' ? 'string' : operand.kind
  if (typeof value !== kind) return undefined
  if (typeof value === 'string') return keyAs(operand, value)
  return typeof value === 'number' && !fits(operand.type, value) ? undefined : String(value)
}

/** Whether a column of the type can hold a number, so that PostgreSQL reads it as one. */
function fits(type: string, value: number): boolean {
  if (type === 'bigint') return Number.isSafeInteger(value)
  const single = Math.fround(value)
  return type !== 'real' || (Number.isFinite(single) && (single !== 0 || value === 0))
}

function dateAs({ kind, type }: Operand, value: Date): string | undefined {
  if (kind !== 'date') return undefined
  return type === 'text' ? isoText(value) : dateText(value)
}

/** A string, or the key of another type that it spells. */
function keyAs({ type }: Operand, value: string): string | undefined {
  if (type === 'uuid') return UUID.test(value) ? value : undefined
  if (type === 'bigint') return isBigint(value) ? value : undefined
  return stored(value)
}

/** Whether it is an integer of 64 bits. */
function isBigint(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function not(condition: string): string {
  return condition === 'FALSE' ? 'TRUE' : `(${condition}) IS NOT TRUE`
}

/** UTF-8 has no lone surrogates, so no stored string has one. */
function isStorable(value: Scalar): boolean {
  return typeof value !== 'string' || value.isWellFormed()
}
