/** The neutral filter as SQL. */

import type { Filter } from '../../../../src/ports/store/filter.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import { fold } from '../../../../src/ports/values/fold.ts'
import { isoText } from '../../json-values.ts'
import { placeAt } from '../../planner/seek.ts'
import {
  every,
  type FilterSql,
  filterCompiler,
  isDateText,
  type Sign,
  some,
  type Value,
} from '../../sql/filter.ts'
import { dateText, FIRST, LAST } from '../layout/dates.ts'
import {
  type Compilation,
  found,
  jsonOperand,
  listAt,
  type Operand,
  scalarIn,
  searchColumn,
} from '../layout/operands.ts'
import { arrayText, type Parameters, stored } from '../layout/sql.ts'

const conditions = filterCompiler<Operand, Compilation>({
  isMissing: (field, compilation) => found(field, compilation, isLacking),
  found,
  ownType({ sql, hasDates }, type) {
    const isText = type === 'string' || type === 'date'
    return hasDates && isText ? isDateText(scalarIn(sql, 'string'), type) : undefined
  },
  isIn,
  contained,
  compare(operand, sign, value, { table, parameters }) {
    if (operand.kind !== 'mixed') return comparison(operand, sign, value, parameters)
    // A mixed value compares with values of its own type alone.
    const json = value instanceof Date ? isoText(value) : value
    const type = typeof json as 'string' | 'number' | 'boolean'
    return comparison(jsonOperand(operand.sql, type, table), sign, json, parameters)
  },
  contains,
})

export const compileFilter: FilterSql<Compilation> = conditions.compile
export const where: FilterSql<Compilation> = conditions.where

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

/** Values up to which an index of a list is asked for each. */
const MAX_CONTAINED = 50

/** For a list, the same condition in the form that an index serves. */
function contained(field: string, values: readonly Value[], compilation: Compilation): string[] {
  const list = values.length <= MAX_CONTAINED ? listAt(field, compilation) : undefined
  if (list === undefined) return []
  const bound = (value: Value) => compilation.parameters.bind(jsonText(value), 'jsonb')
  return [some(values.map((value) => `${list} @> ${bound(value)}`))]
}

function isLacking({ sql, ordered, isFine, kind }: Operand): string {
  if (isFine) return `${ordered} IS NULL`
  return kind === 'mixed' ? `NULLIF(${sql}, 'null') IS NULL` : `${sql} IS NULL`
}

function isIn(operand: Operand, values: readonly Value[], { parameters }: Compilation): string {
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

/** `operand` compared with a value that is not null. */
export function comparison(
  operand: Operand,
  sign: Sign | '=',
  value: Value,
  parameters: Parameters,
): string {
  const { type, sql, ordered } = operand
  if (operand.isFine && value instanceof Date) return compareFine(operand, sign, value, parameters)
  // Both sides as JavaScript's numbers: no integer equals 1.5, but some lie beyond it.
  if (typeof value === 'number' && !fits(type, value)) {
    if (sign === '=') return 'FALSE'
    return `${sql}::double precision ${sign} ${parameters.bind(String(value), 'double precision')}`
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
function boundText({ kind, type }: Operand, value: Value): string | undefined {
  if (kind === 'mixed') return jsonText(value)
  if (value instanceof Date) {
    if (kind !== 'date') return undefined
    return type === 'text' ? isoText(value) : dateText(value)
  }
  if (typeof value !== (kind === 'id' ? 'string' : kind)) return undefined
  if (typeof value === 'string') return keyAs(type, value)
  return typeof value === 'number' && !fits(type, value) ? undefined : String(value)
}

/** A value as stored JSON has it. */
function jsonText(value: Value): string {
  const plain = value instanceof Date ? isoText(value) : value
  return JSON.stringify(typeof plain === 'string' ? stored(plain) : plain)
}

/** Whether a column of the type can hold a number, so that PostgreSQL reads it as one. */
function fits(type: string, value: number): boolean {
  if (type === 'bigint') return Number.isSafeInteger(value)
  const single = Math.fround(value)
  return type !== 'real' || (Number.isFinite(single) && (single !== 0 || value === 0))
}

/** A string, or the key of another type that it spells. */
function keyAs(type: string, value: string): string | undefined {
  if (type === 'uuid') return UUID.test(value) ? value : undefined
  if (type !== 'bigint') return stored(value)
  const is64Bits = /^-?\d{1,19}$/.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value)
  return is64Bits ? value : undefined
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Terms with fewer characters have no trigram, so the index cannot find them. */
const TRIGRAM = 3

/** The condition that the string at `field` contains `text`, or one element of a list does. */
function contains(field: string, text: string, compilation: Compilation): string {
  const { schema, table, parameters } = compilation
  if (!schema.searchable.includes(field)) {
    throw new TypeError(`the field '${field}' is not searchable`)
  }
  const { sql } = searchColumn(field, compilation)
  const term = fold(text)
  if (placeAt(field, schema.shape).parts.length === 1) return holds(sql, folded(term), compilation)
  const whole = JSON.stringify(stored(term)).slice(1, -1)
  const within = parameters.bind(folded(term))
  return every([
    holds(sql, whole, compilation),
    found(field, compilation, (one) => `strpos(${table.fold}(${one.sql}), ${within}) > 0`),
  ])
}

/** `LIKE` is what the index serves; with too short a term it would read the whole index. */
function holds(column: string, term: string, { parameters }: Compilation): string {
  if (Array.from(term).length < TRIGRAM) return `strpos(${column}, ${parameters.bind(term)}) > 0`
  return `${column} LIKE ${parameters.bind(`%${term.replace(/[\\%_]/g, '\\$&')}%`)}`
}

/** NUL and U+0001 as the SQL function writes them: as capital letters, which no fold has. */
function folded(term: string): string {
  return term.replaceAll('\0', 'N').replaceAll('\u0001', 'M')
}
