/**
 * All records of a collection, batch by batch, for copying and checking.
 *
 * @module
 */

import { everything } from './filter.ts'
import type { Collection, Fields } from './store.ts'

const BATCH = 1000

/**
 * All records in the order of their ids, some at a time, from the first or after the one with the id `from`; those that
 * are written meanwhile may be missed.
 */
export async function* batches(collection: Collection, from?: string): AsyncGenerator<Fields[]> {
  let after = from
  for (;;) {
    const batch = await collection.find({
      filter: everything,
      sort: [{ field: '_id', descending: false }],
      limit: BATCH,
      ...(after !== undefined && { after: [after] }),
    })
    if (batch.length > 0) yield batch
    if (batch.length < BATCH) return
    after = String(batch.at(-1)?._id)
  }
}

/** `collection`, or an empty one: a model that is new since its app last started has no table, and no records. */
export async function readable(collection: Collection): Promise<Collection> {
  try {
    await collection.find({ filter: everything, sort: [], limit: 1 })
    return collection
  } catch (error) {
    if (!/no such table/.test(String(error))) throw error
    return { ...collection, count: async () => 0, find: async () => [] }
  }
}
