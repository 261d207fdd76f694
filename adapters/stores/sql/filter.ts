/**
 * The neutral filter as a condition: what is the same in every dialect of SQL.
 *
 * @module
 */

import type { Filter, Scalar } from '../../../src/ports/filter.ts'
import { every, not, some } from './conditions.ts'

/** A value that a database can hold and that is there. */
export type Value = NonNullable<Scalar>

/** A comparison that no null meets. */
export type Sign = '>' | '>=' | '<' | '<='

/**
 * The conditions of a dialect, with what a statement is compiled with as `Context`. Of a list, or a path through one, they
 * hold if they hold for one element. They may be NULL, which matches nothing.
 */
export interface FilterDialect<Context> {
  /** The value is null or missing. */
  isMissing(field: string, context: Context): string
  /** The value is one of `values`, which are one at least. */
  isAmong(field: string, values: readonly Value[], context: Context): string
  compare(field: string, sign: Sign, value: Value, context: Context): string
  /** The string contains `text`, whatever the case of both. */
  contains(field: string, text: string, context: Context): string
  matches(field: string, pattern: string, context: Context): string
}

/** Returns what compiles a filter to a condition, which is never NULL if it is negated. */
export function filterCompiler<Context>(
  dialect: FilterDialect<Context>,
): (filter: Filter, context: Context) => string {
  const among = (field: string, values: readonly Scalar[], context: Context): string => {
    const others = values.filter(isStorable)
    const conditions = values.includes(null) ? [dialect.isMissing(field, context)] : []
    if (others.length > 0) conditions.push(dialect.isAmong(field, others, context))
    return some(conditions)
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
        return dialect.contains(filter.field, filter.text, context)
      case 'matches':
        return dialect.matches(filter.field, filter.pattern, context)
      default: {
        const { field, value } = filter
        if (!isStorable(value)) return 'FALSE'
        return dialect.compare(field, SIGNS[filter.op], value, context)
      }
    }
  }
  return compile
}

const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** Whether it is a value that UTF-8 can hold, which has no lone surrogates: no stored string has one. */
function isStorable(value: Scalar): value is Value {
  return value !== null && (typeof value !== 'string' || value.isWellFormed())
}
