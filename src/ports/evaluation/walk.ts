/** All records of a collection, batch by batch, for copying and checking. */

import { BY_ID, everything, type Filter, type Scalar } from '../store/filter.ts'
import type { Fields, Read } from '../store/records.ts'
import type { IdType } from '../store/shape.ts'
import type { Collection } from '../store/store.ts'
import { position } from './evaluate.ts'

const BATCH_RECORDS = 1000

/** The least id of each type, where ids that are integers compare as numbers. */
const LEAST: Readonly<Record<IdType, string>> = {
  objectId: '0'.repeat(24),
  uuid: '00000000-0000-0000-0000-000000000000',
  integer: String(-(2n ** 63n)),
  text: '',
}

/**
 * The records with ids of this type. Another program may have stored other ones in MongoDB, which come first in its order:
 * a walk would end at them.
 */
function withIds(idType: IdType, { numericIds }: Pick<Collection, 'numericIds'>): Filter {
  const isText = idType === 'integer' && !numericIds
  return { op: 'gte', field: '_id', value: isText ? '' : LEAST[idType] }
}

/**
 * All records whose ids are of this type, in their order, some at a time, from the first or after the one with the id
 * `from`; those that are written meanwhile may be missed.
 */
export function batches(
  collection: Collection,
  idType: IdType,
  from?: string,
): AsyncGenerator<Fields[]> {
  const read = { filter: withIds(idType, collection), sort: BY_ID }
  return pages(collection, read, from === undefined ? from : [from])
}

/** All records of a read, whose order ends with `_id`, some at a time, from the first or after the position `from`. */
export async function* pages(
  collection: Pick<Collection, 'find'>,
  read: Pick<Read, 'filter' | 'sort' | 'select' | 'hints'>,
  from?: readonly Scalar[],
): AsyncGenerator<Fields[]> {
  let after = from
  for (;;) {
    const batch = await collection.find({ ...read, limit: BATCH_RECORDS, ...(after && { after }) })
    if (batch.length > 0) yield batch
    if (batch.length < BATCH_RECORDS) return
    after = position(read.sort, batch.at(-1) ?? {})
  }
}

/** A record that matches; any of them if several do. */
export async function firstIn(
  collection: Pick<Collection, 'find'>,
  filter: Filter,
): Promise<Fields | undefined> {
  const [found] = await collection.find({ filter, sort: [], limit: 1 })
  return found
}

/** `collection`, or an empty one: a model that is new since its app last started has no table, and no records. */
export async function readable(collection: Collection): Promise<Collection> {
  try {
    await firstIn(collection, everything)
    return collection
  } catch (error) {
    if (!/no such table/.test(String(error))) throw error
    return { ...collection, count: async () => 0, find: async () => [] }
  }
}
