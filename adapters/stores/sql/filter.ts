/** Conditions, and the neutral filter as one: what is the same in every dialect of SQL. */

import type { Filter, Scalar } from '../../../src/ports/store/filter.ts'
import { DATE_AMONG_OTHERS, type Shape, shapeFor } from '../../../src/ports/store/shape.ts'

/** A value that a database can hold and that is there. */
export type Value = NonNullable<Scalar>

/** A comparison that no null meets. */
export type Sign = '>' | '>=' | '<' | '<='

/**
 * The conditions of a dialect, with what a statement is compiled with as `Context`. Of a list, or a path through one, they
 * hold if they hold for one element. They may be NULL, which matches nothing.
 */
export interface FilterDialect<Operand, Context> {
  /** The value is null or missing. */
  isMissing(field: string, context: Context): string
  /** `test` holds for the value at a path. */
  found(field: string, context: Context, test: (operand: Operand) => string): string
  /** What holds besides of a mixed value that is compared with one of this type. */
  ownType?(operand: Operand, type: JsonType): string | undefined
  /** The value is one of `values`, which are one at least, and of one type. */
  isIn(operand: Operand, values: readonly Value[], context: Context): string
  /** What follows if the value is one of `values`, in a form that an index serves. */
  contained?(field: string, values: readonly Value[], context: Context): string[]
  compare(operand: Operand, sign: Sign, value: Value, context: Context): string
  /** The string contains `text`, which is well-formed, whatever the case of both. */
  contains(field: string, text: string, context: Context): string
  /** Without it, the store takes no patterns. */
  matches?(operand: Operand, pattern: string, context: Context): string
}

export type FilterSql<Context> = (filter: Filter, context: Context) => string

/** What compiles a filter: to a condition, which is never NULL if it is negated, and to the `WHERE` of what matches. */
export function filterCompiler<Operand, Context>(
  dialect: FilterDialect<Operand, Context>,
): { readonly compile: FilterSql<Context>; readonly where: FilterSql<Context> } {
  const among = (field: string, values: readonly Scalar[], context: Context): string => {
    const others = values.filter(isStorable)
    const conditions = values.includes(null) ? [dialect.isMissing(field, context)] : []
    if (others.length === 0) return some(conditions)
    const alike = [...Map.groupBy(others, typeOf)]
    const isThere = dialect.found(field, context, (operand) =>
      some(alike.map(([type, own]) => typed(operand, type, dialect.isIn(operand, own, context)))),
    )
    const contained = dialect.contained?.(field, others, context) ?? []
    return some([...conditions, every([...contained, isThere])])
  }
  const typed = (operand: Operand, type: JsonType, condition: string): string => {
    const isOwn = dialect.ownType?.(operand, type)
    return isOwn === undefined ? condition : every([isOwn, condition])
  }
  const compile = (filter: Filter, context: Context): string => {
    switch (filter.op) {
      case 'and':
        return every(filter.filters.map((one) => compile(one, context)))
      case 'or':
        return some(filter.filters.map((one) => compile(one, context)))
      case 'eq':
        return among(filter.field, [filter.value], context)
      case 'ne':
        return not(among(filter.field, [filter.value], context))
      case 'in':
        return among(filter.field, filter.values, context)
      case 'nin':
        return not(among(filter.field, filter.values, context))
      case 'contains':
        if (!filter.text.isWellFormed()) return 'FALSE'
        return dialect.contains(filter.field, filter.text, context)
      case 'matches':
        return dialect.found(filter.field, context, (operand) => {
          if (dialect.matches) return dialect.matches(operand, filter.pattern, context)
          throw new TypeError('this store has no patterns: rawRegex is false')
        })
      default: {
        const { op, field, value } = filter
        if (!isStorable(value)) return 'FALSE'
        return dialect.found(field, context, (operand) =>
          typed(operand, typeOf(value), dialect.compare(operand, SIGNS[op], value, context)),
        )
      }
    }
  }
  const where = (filter: Filter, context: Context) => whereAll([compile(filter, context)])
  return { compile, where }
}

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** What a value is compared as: JSON has a date as a string. */
export type JsonType = 'string' | 'number' | 'boolean' | 'date'

function typeOf(value: Value): JsonType {
  return value instanceof Date ? 'date' : (typeof value as JsonType)
}

/** Whether dates may be among the values of a mixed place: no string is compared with one. */
export function holdsDates(shape: Shape): boolean {
  return shape.kind === 'mixed' && shapeFor(shape, '') === DATE_AMONG_OTHERS
}

/** Whether the string `text` is a date, or with `string` none: for a place that holds dates. */
export function isDateText(text: string, type: JsonType): string {
  return `${text} ${type === 'date' ? '' : 'NOT '}LIKE '____-__-__T__:__:__.___Z'`
}

/** `test` holds for the value at `parts`, or for one element of each list on the way, or `absent` for such a list. */
export function throughLists(
  root: string,
  [path = '', ...rest]: readonly string[],
  someElement: (root: string, path: string, element: string, condition: string) => string,
  test: (root: string, path: string) => string,
  absent?: (root: string, path: string) => string,
): string {
  if (rest.length === 0) return test(root, path)
  const element = `element${rest.length}`
  const within = throughLists(element, rest, someElement, test, absent)
  const found = someElement(root, path, element, within)
  return absent ? some([absent(root, path), found]) : found
}

/** Whether it is a value that UTF-8 can hold, which has no lone surrogates: no stored string has one. */
function isStorable(value: Scalar): value is Value {
  return value !== null && (typeof value !== 'string' || value.isWellFormed())
}

export function every(conditions: readonly string[]): string {
  return join(conditions, ' AND ', 'TRUE')
}

export function some(conditions: readonly string[]): string {
  return join(conditions, ' OR ', 'FALSE')
}

/** The exact opposite of a condition, which may be NULL. */
export function not(condition: string): string {
  return condition === 'FALSE' ? 'TRUE' : `(${condition}) IS NOT TRUE`
}

/** A `WHERE` clause of `conditions`, with a leading space; empty if all records meet them. */
export function whereAll(conditions: readonly string[]): string {
  const condition = every(conditions)
  return condition === 'TRUE' ? '' : ` WHERE ${condition}`
}

/** So many conditions are joined in a row; more as a balanced tree: D1 refuses expressions deeper than 100. */
const MAX_IN_A_ROW = 4

/** Conditions without effect are left out, because SQLite uses no index beside them. */
function join(conditions: readonly string[], operator: string, none: string): string {
  const [first = none] = conditions
  if (conditions.length <= 1) return first
  const kept = conditions.includes(none) ? conditions.filter((one) => one !== none) : conditions
  if (kept.length <= 1) return kept[0] ?? none
  return `(${kept.length <= MAX_IN_A_ROW ? kept.join(operator) : halved(kept, operator)})`
}

function halved(conditions: readonly string[], operator: string): string {
  if (conditions.length <= MAX_IN_A_ROW) return conditions.join(operator)
  const middle = conditions.length >> 1
  const [left, right] = [conditions.slice(0, middle), conditions.slice(middle)]
  return `(${halved(left, operator)})${operator}(${halved(right, operator)})`
}
