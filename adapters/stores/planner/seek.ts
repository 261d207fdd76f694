/** What can be told of a read without the database, and pages after a position, which an index serves at any depth. */

import type { Filter, Scalar, SortKey } from '../../../src/ports/store/filter.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import { FREE, type ObjectShape, type Place, placeOf } from '../../../src/ports/store/shape.ts'

/** With `_id` as the last key: without it in an index, everything that a filter matches would be sorted. */
export function totalOrder(keys: readonly SortKey[]): readonly SortKey[] {
  const isTotal = keys.some(({ field }) => field === '_id')
  return isTotal ? keys : [...keys, { field: '_id', descending: false }]
}

/** Part of what follows a position: records in one range of an index, in the order of `sort`. */
export interface Stretch<Condition = string> {
  readonly conditions: readonly Condition[]
  /** The keys in which the stretch's records differ. */
  readonly sort: readonly SortKey[]
}

/** How the values of one sort key lie to a position, as conditions. */
export interface Bounds<Condition = string> {
  /** The value is the position's: at most one of these can be true. Called if a later key needs it. */
  ties(): readonly Condition[]
  /** The value comes later: in one of these ranges, in order. */
  readonly beyond: readonly Range<Condition>[]
}

/** A range of values of one key. */
export interface Range<Condition = string> {
  readonly condition: Condition
  /** Whether all of them are the same. */
  readonly isConstant?: true
}

/** A sort key's value, as conditions with an index on it. */
export interface Key<Condition = string> {
  readonly isNull: Condition
  readonly isThere: Condition
  compare(sign: '=' | '<' | '>', value: NonNullable<Scalar>): Condition
}

/**
 * What follows a position, cut into consecutive stretches: first the records that tie on all keys but the last, then
 * those that tie on all but the last two, and so on. As one condition (`a > 1 OR a = 1 AND b > 2`), databases would walk
 * through all ties of the first key on every page.
 */
export function stretchesBeyond<Condition>(
  sort: readonly SortKey[],
  bounds: readonly Bounds<Condition>[],
): Stretch<Condition>[] {
  let tied: readonly Condition[][] = [[]]
  const cut = bounds.map(({ ties, beyond }, at) => {
    const found = tied.flatMap((conditions) =>
      beyond.map(({ condition, isConstant }) => ({
        conditions: [...conditions, condition],
        sort: sort.slice(isConstant ? at + 1 : at),
      })),
    )
    const alternatives = at === bounds.length - 1 ? [] : ties()
    tied = tied.flatMap((conditions) => alternatives.map((tie) => [...conditions, tie]))
    return found
  })
  return cut.reverse().flat()
}

/** The bounds of a position whose values are known; null comes first ascending and last descending. */
export function boundsAfter<Condition>(
  sort: readonly SortKey[],
  after: readonly Scalar[],
  keyOf: (field: string) => Key<Condition>,
): Bounds<Condition>[] {
  return sort.map(({ field, descending }, at) => {
    const { isNull, isThere, compare } = keyOf(field)
    const value = after[at] ?? null
    if (value === null) {
      return { ties: () => [isNull], beyond: descending ? [] : [{ condition: isThere }] }
    }
    const later = { condition: compare(descending ? '<' : '>', value) }
    const nulls = { condition: isNull, isConstant: true } as const
    const beyond = descending && field !== '_id' ? [later, nulls] : [later]
    return { ties: () => [compare('=', value)], beyond }
  })
}

/** Whether only the record with a certain id can match: then there is nothing to sort, to cut or to interrupt. */
export function namesOne(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.some(namesOne)
  return filter.op === 'eq' && filter.field === '_id' && filter.value !== null
}

/** Where a path leads. Throws a `TypeError` for one that the shape does not have. */
export function placeAt(path: string, shape: ObjectShape): Place {
  const place = placeOf(shape, path)
  // No option names a list of lists, but where it was renamed, its earlier name is asked for.
  if (!place && shape.fields.has(path)) return { shape: FREE, parts: [path] }
  if (!place) throw new TypeError(`the field '${path}' is not in the collection's shape`)
  return place
}

/** The id of the record that a read asks for, if it asks for nothing else. */
export function idOf({ filter, after, afterRecord, skip = 0, limit }: Read): string | undefined {
  if (filter.op !== 'eq' || filter.field !== '_id' || typeof filter.value !== 'string') return
  if (after || afterRecord || skip > 0 || limit === 0) return undefined
  return filter.value.isWellFormed() ? filter.value : undefined
}

/** Whether a read is one of a record by its id, with nothing else that may take long. */
export function isOne({ filter, after, afterRecord, skip = 0, limit }: Read): boolean {
  return isQuick(filter) && !after && !afterRecord && skip === 0 && limit > 0
}

/** Whether a filter has its id, and nothing else that may take long. */
export function isQuick(filter: Filter): boolean {
  if (filter.op !== 'and') return namesOne(filter)
  return filter.filters.every(({ op }) => op === 'eq') && namesOne(filter)
}
