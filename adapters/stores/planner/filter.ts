/**
 * What can be told of a filter without the database.
 *
 * @module
 */

import type { Filter } from '../../../src/ports/filter.ts'
import type { Read } from '../../../src/ports/store.ts'

/** Whether only the record with a certain id can match: then there is nothing to sort, to cut or to interrupt. */
export function namesOne(filter: Filter): boolean {
  if (filter.op === 'and') return filter.filters.some(namesOne)
  return filter.op === 'eq' && filter.field === '_id' && filter.value !== null
}

/** The id of the record that a read asks for, if it asks for nothing else. */
export function idOf({ filter, after, afterRecord, skip = 0, limit }: Read): string | undefined {
  if (filter.op !== 'eq' || filter.field !== '_id' || typeof filter.value !== 'string') return
  if (after || afterRecord || skip > 0 || limit === 0) return undefined
  return filter.value.isWellFormed() ? filter.value : undefined
}
