/** The grammar of the QUERY body's `filter`: fields, operators and values, checked and cast. */

import * as refuse from '../../http/errors/refusals.ts'
import type { FieldName, Model } from '../../model/model.ts'
import { castScalar } from '../../model/values/cast.ts'
import { isFields } from '../../model/writable.ts'
import {
  all,
  any,
  type CompareOperator,
  everything,
  type Filter,
  type ListOperator,
  nothing,
  type Scalar,
} from '../../ports/store/filter.ts'
import { placeOf, type Shape } from '../../ports/store/shape.ts'

/** A value that a condition compares with. */
export type ConditionValue = string | number | boolean | Date | null

/** What a field must be: a value, one of a list, or operators with their values, all of which must hold. */
export type Condition =
  | ConditionValue
  | readonly ConditionValue[]
  | {
      readonly eq?: ConditionValue
      readonly ne?: ConditionValue
      readonly gt?: ConditionValue
      readonly gte?: ConditionValue
      readonly lt?: ConditionValue
      readonly lte?: ConditionValue
      readonly in?: readonly ConditionValue[]
      readonly nin?: readonly ConditionValue[]
    }

/**
 * Conditions by field name, all of which must hold, and in `or` filters of which one must: the grammar of the QUERY body's
 * `filter`.
 */
export type ConditionsOf<R> = ConditionsOn<R> &
  ('or' extends keyof R ? unknown : { readonly or?: readonly ConditionsOn<R>[] })

type ConditionsOn<R> = { readonly [Field in FieldName<R>]?: Condition }

/** The most values that one list of a condition may hold. */
export const MAX_LIST = 100

/** The operators that compare with one value. */
export const COMPARE: readonly string[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte']
/** The operators that compare with a list. */
export const LIST: readonly string[] = ['in', 'nin']
export const OPERATORS: readonly string[] = [...COMPARE, ...LIST]

export function isCompareOperator(operator: string): operator is CompareOperator {
  return COMPARE.includes(operator)
}

/** How many filters an `or` may have. */
export const MIN_ALTERNATIVES = 2
export const MAX_ALTERNATIVES = 20

type Allowed = (field: string) => boolean

/** The filter of `conditions`. `allowed` throws a 400 for fields that may not be used; without it all may be. */
export function parseConditions(
  model: Model,
  conditions: unknown,
  allowed: Allowed = () => true,
): Filter {
  if (!isFields(conditions)) throw refuse.filterNotObject()
  const filters = Object.entries(conditions).map(([field, condition]) =>
    field === 'or' && !model.shape.fields.has('or')
      ? alternatives(model, condition, allowed)
      : conditionOn(model, field, condition, allowed),
  )
  return all(filters)
}

function alternatives(model: Model, filters: unknown, allowed: Allowed): Filter {
  if (!Array.isArray(filters)) throw refuse.notAlternatives()
  if (filters.length < MIN_ALTERNATIVES || filters.length > MAX_ALTERNATIVES)
    throw refuse.notAlternatives()
  const parsed = filters.map((one) => {
    if (!isFields(one) || Object.hasOwn(one, 'or')) throw refuse.notAlternatives()
    return all(
      Object.entries(one).map(([field, given]) => conditionOn(model, field, given, allowed)),
    )
  })
  // One that every record matches leaves nothing to choose.
  return parsed.some(isEverything) ? everything : any(parsed)
}

function isEverything(filter: Filter): boolean {
  return filter.op === 'and' && filter.filters.length === 0
}

function conditionOn(model: Model, field: string, condition: unknown, allowed: Allowed): Filter {
  const shape = allowed(field) ? placeOf(model.shape, field)?.shape : undefined
  if (!shape) throw refuse.notFilterable(field)
  return parseCondition(field, shape, condition)
}

/** Compares a field with a value that has been cast; an order comparison with null matches nothing. */
export function comparison(op: CompareOperator, field: string, value: Scalar): Filter {
  return value === null && op !== 'eq' && op !== 'ne' ? nothing : { op, field, value }
}

function parseCondition(field: string, shape: Shape, condition: unknown): Filter {
  if (Array.isArray(condition)) return membership('in', field, shape, condition)
  if (!isFields(condition)) return comparison('eq', field, cast(field, shape, condition))
  const entries = Object.entries(condition)
  if (entries.length === 0) throw refuse.filterEmpty(field)
  return all(
    entries.map(([operator, value]) => {
      if (LIST.includes(operator)) return membership(operator as ListOperator, field, shape, value)
      if (!isCompareOperator(operator)) throw refuse.unknownOperator(operator, field, OPERATORS)
      if (!isScalar(value)) throw refuse.operand(operator, field, 'expects a single value')
      return comparison(operator, field, cast(field, shape, value))
    }),
  )
}

function membership(op: ListOperator, field: string, shape: Shape, values: unknown): Filter {
  if (!Array.isArray(values)) throw refuse.operand(op, field, 'expects a list')
  if (values.length === 0) throw refuse.operand(op, field, 'expects a non-empty list')
  if (values.length > MAX_LIST) throw refuse.operand(op, field, `exceeds ${MAX_LIST} values`)
  if (!values.every(isScalar)) throw refuse.operand(op, field, 'expects scalar values')
  return { op, field, values: values.map((value) => cast(field, shape, value)) }
}

function isScalar(value: unknown): value is Scalar {
  return value === null || value instanceof Date || typeof value !== 'object'
}

function cast(field: string, shape: Shape, value: unknown): Scalar {
  // Only your app's own code can pass a Date; JSON has none.
  if (value instanceof Date && shape.kind === 'date' && !Number.isNaN(value.getTime())) return value
  const scalar = value === undefined ? undefined : castScalar(shape, value as string)
  if (scalar === undefined) throw refuse.invalidValue(field)
  return scalar
}
