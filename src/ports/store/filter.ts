/**
 * What a read asks for, independent of any database.
 *
 * A filter names fields, operators and values. An adapter compiles it to its own query language with every value bound.
 * Nothing that a client sent reaches a store in any other form.
 */

/** A value that a condition compares with. Ids are strings; the adapter knows from the shape which ones are. */
export type Scalar = string | number | boolean | Date | null

/** An operator that compares a field with one value. */
export type CompareOperator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

/** An operator that compares a field with a list of values. */
export type ListOperator = 'in' | 'nin'

/** A condition that compares one field with one value. */
export interface Comparison {
  readonly op: CompareOperator
  /** A path of the collection's shape; dots lead into nested objects. */
  readonly field: string
  readonly value: Scalar
}

/** A condition that compares one field with a list of values; an empty list matches nothing (`in`) or all (`nin`). */
export interface Membership {
  readonly op: ListOperator
  readonly field: string
  readonly values: readonly Scalar[]
}

/** The field's value contains `text`, taken literally; compared by Unicode simple case folding (`fold`). */
export interface Containment {
  readonly op: 'contains'
  readonly field: string
  readonly text: string
}

/** The field's value matches a regular expression, ignoring case. Used only with `allowRawRegex`. */
export interface PatternMatch {
  readonly op: 'matches'
  readonly field: string
  readonly pattern: string
}

/** All of the conditions (`and`; none means everything) or one of them (`or`; none means nothing). */
export interface Junction {
  readonly op: 'and' | 'or'
  readonly filters: readonly Filter[]
}

/**
 * A neutral filter. Every store keeps these rules, and the contract suite tests them:
 *
 * - `eq null` and `in [null]` match null and missing; `ne v` and `nin [v]` are the exact negation of `eq` and `in`, so
 *   they keep null and missing. `gt`, `gte`, `lt` and `lte` never match null or missing.
 * - Strings compare by code point, dates by instant, `false` before `true`.
 * - On a list, and on a path through a list, a condition matches when one element matches; `ne` and `nin` match when no
 *   element equals the value.
 * - On a `mixed` field, a value is only compared with values of its own type.
 */
export type Filter = Comparison | Membership | Containment | PatternMatch | Junction

/** The filter that every record matches. */
export const everything: Filter = { op: 'and', filters: [] }

/** The filter that no record matches. */
export const nothing: Filter = { op: 'or', filters: [] }

/** The records that match all of `filters`; nested conjunctions and `everything` are folded away. */
export function all(filters: readonly Filter[]): Filter {
  const flat: Filter[] = []
  for (const filter of filters) {
    if (filter.op === 'and') flat.push(...filter.filters)
    else flat.push(filter)
  }
  const [only] = flat
  return flat.length === 1 && only ? only : { op: 'and', filters: flat }
}

/** The records that match one of `filters`. */
export function any(filters: readonly Filter[]): Filter {
  const [only] = filters
  return filters.length === 1 && only ? only : { op: 'or', filters }
}

/** The records whose `field` is `value`. */
export function is(field: string, value: Scalar): Filter {
  return { op: 'eq', field, value }
}

/** The filter that matches only the record with `id`. */
export function withId(id: string): Filter {
  return { op: 'eq', field: '_id', value: id }
}

/** One key of a sort order. Null and missing come first ascending and last descending. */
export interface SortKey {
  readonly field: string
  readonly descending: boolean
}

/** The order of ids. */
export const BY_ID: readonly SortKey[] = [{ field: '_id', descending: false }]

/** `keys` as a total order: `_id` is the last key, so that ties are neither skipped nor repeated. */
export function totalOrder(keys: readonly SortKey[]): readonly SortKey[] {
  const end = keys.findIndex((key) => key.field === '_id')
  return end === -1 ? [...keys, ...BY_ID] : keys.slice(0, end + 1)
}

/** A repeated key keeps its first place and its last direction. */
export function withoutRepeats(keys: readonly SortKey[]): readonly SortKey[] {
  return [...new Map(keys.map((key) => [key.field, key])).values()]
}

/** An order as a string: `-population,_id`. */
export function sortText(keys: readonly SortKey[]): string {
  return keys.map((key) => (key.descending ? `-${key.field}` : key.field)).join(',')
}

/** The only ids that `filter` can match; undefined if it does not say. */
export function idsIn(filter: Filter): readonly string[] | undefined {
  if (filter.op === 'and') {
    for (const one of filter.filters) {
      const ids = idsIn(one)
      if (ids) return ids
    }
    return undefined
  }
  if ('filters' in filter || filter.field !== '_id') return undefined
  if (filter.op === 'eq') return [String(filter.value)]
  return filter.op === 'in' ? [...new Set(filter.values.map(String))] : undefined
}
