/** The filters of a list: a range and a comparison in a URL, conditions in a QUERY body. */

import * as refuse from '../../http/errors/refusals.ts'
import { castScalar, numberFrom, scalarIn } from '../../model/values/cast.ts'
import type { Filter } from '../../ports/store/filter.ts'
import { placeOf, type Shape } from '../../ports/store/shape.ts'
import { comparison, isCompareOperator, parseConditions } from '../engine/conditions.ts'
import type { ListRules } from '../setup/resource.ts'
import type { ListRequest, UrlParameters } from './plan.ts'

/** `?rangeField=price&range=10-20`. */
export function rangeInUrl(rules: ListRules, { query }: UrlParameters): ListRequest {
  const { rangeField, range } = query
  if (!rangeField || range === '') return {}
  const field = filterableField(rules, 'rangeField', rangeField)
  if (typeof range !== 'string') throw refuse.invalidRange()
  const shape = shapeAt(rules, field)
  const [low, high] = splitRange(range, shape)
  const bound = (op: 'gte' | 'lte', text: string): Filter[] => {
    if (text === '') return []
    const value = castScalar(shape, asNumber(shape, text))
    if (value === undefined) throw refuse.invalidRange()
    return [{ op, field, value }]
  }
  return { filters: [...bound('gte', low), ...bound('lte', high)] }
}

/** The two bounds as strings. Dates may also be written `from..to`, because ISO dates contain hyphens. */
function splitRange(bounds: string, shape: Shape): readonly [string, string] {
  const dots = shape.kind === 'date' && bounds.includes('..')
  const [low, high, ...rest] = bounds.split(dots ? '..' : '-')
  if (low === undefined || high === undefined || rest.length > 0) throw refuse.invalidRange()
  const numeric = (text: string) => text === '' || numberFrom(text) !== undefined
  if (!dots && !(numeric(low) && numeric(high))) throw refuse.invalidRange()
  return [low, high]
}

/** `?compareField=price&compareOperator=gte&compareValue=10`. */
export function compareInUrl(rules: ListRules, { query, shaped }: UrlParameters): ListRequest {
  const { compareField, compareOperator = '', compareValue } = query
  if (shaped.has('compareValue')) throw refuse.invalidCompareValue()
  if (!compareField) return {}
  const field = filterableField(rules, 'compareField', compareField)
  const operator = compareOperator === '' ? 'eq' : String(compareOperator)
  if (!isCompareOperator(operator)) throw refuse.unknownCompareOperator(operator)
  if (typeof compareValue !== 'string') throw refuse.invalidCompareValue()
  const shape = shapeAt(rules, field)
  const value = scalarIn(shape, asNumber(shape, compareValue))
  if (value === undefined) throw refuse.invalidValue(field)
  return { filters: [comparison(operator, field, value)] }
}

export function filterInBody({ model, filterable }: ListRules, filter: unknown): ListRequest {
  const mayFilter = (field: string) => !field.includes('.') && filterable.has(field)
  return { filters: [parseConditions(model, filter, mayFilter)] }
}

/** Bounds and numeric-looking compare values are numbers (rule 1), unless the field's type says otherwise. */
function asNumber(shape: Shape, text: string): string | number {
  return shape.kind === 'mixed' ? (numberFrom(text) ?? text) : text
}

function filterableField(rules: ListRules, parameter: string, field: string | string[]): string {
  if (typeof field !== 'string') throw refuse.fieldNotSingle(parameter)
  if (!rules.urlFilterable.has(field)) throw refuse.notFilterable(field)
  return field
}

function shapeAt({ model }: ListRules, field: string): Shape {
  return placeOf(model.shape, field)?.shape ?? { kind: 'mixed' }
}
