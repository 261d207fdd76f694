/**
 * The options of `find` → `Read`. Your app's code sets them, perhaps to what a client sent.
 *
 * @module
 */

import { notSortable } from '../../http/refusals.ts'
import { type Model, type SortName, sortKey } from '../../model/model.ts'
import { isOrdered } from '../../model/ordered.ts'
import { noSuchField } from '../../model/suggest.ts'
import { type Filter, totalOrder } from '../../ports/filter.ts'
import { placeOf } from '../../ports/shape.ts'
import type { Projection, Read } from '../../ports/store.ts'

/** Options of `find`, beyond the filter. */
export interface FindOptions<R> {
  /** A sort key, or a list of them. Default: by `_id`. */
  readonly sort?: SortName<R> | readonly SortName<R>[]
  /** The most records to return. Default: no limit. */
  readonly limit?: number
  /** The number of records to skip. Default 0. */
  readonly skip?: number
  /** Names to keep, or names with `-` in front to leave out. */
  readonly select?: readonly string[]
}

/**
 * The read for the records that match `filter`. Throws a 400 for a field that has no order, a `TypeError` for invalid
 * options.
 */
export function readOf<R>(model: Model, filter: Filter, options: FindOptions<R>): Read {
  const { sort = [], limit = Number.MAX_SAFE_INTEGER, skip = 0, select = [] } = options
  const keys = [sort].flat().map(sortKey)
  for (const { field } of keys) if (!isOrdered(model.shape, field)) throw notSortable(field)
  return {
    filter,
    sort: totalOrder(keys),
    limit: natural('limit', limit),
    skip: natural('skip', skip),
    ...(select.length > 0 && { select: projection(model, select) }),
  }
}

/** `value`, a number of records. Throws a `TypeError` for anything else. */
export function natural(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new TypeError(`'${option}' must be a whole number of at least 0`)
}

function projection(model: Model, select: readonly string[]): Projection {
  const dropped = select.filter((name) => name.startsWith('-')).map((name) => name.slice(1))
  if (dropped.length > 0 && dropped.length < select.length) {
    throw new TypeError(
      `'select' must list names to keep, or names with '-' to leave out, not both`,
    )
  }
  for (const name of dropped.length > 0 ? dropped : select) {
    if (!placeOf(model.shape, name)) {
      throw new TypeError(noSuchField('select', name, model))
    }
  }
  return dropped.length > 0 ? { exclude: dropped } : { include: select }
}
