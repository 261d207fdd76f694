/**
 * One collection of the store.
 *
 * @module
 */

import type { Document, Collection as Native } from 'mongodb'
import type { Collection, CollectionSchema } from '../../../src/ports/store.ts'
import { Reads } from './calls/reads.ts'
import { inserter, Writes } from './calls/writes.ts'
import type { Connection, Run } from './connection/connection.ts'
import type { Indexed } from './search/grams.ts'

/** The collection of `schema`; `indexed` gives the paths with a search index. */
export function openCollection(
  schema: CollectionSchema,
  connection: Connection,
  indexed: () => Indexed,
): Collection {
  const native = connection.database.collection(schema.name)
  const run: Run = (work) => connection.run(schema, work)
  const reads = new Reads(schema, native, connection, indexed)
  const writes = new Writes(schema, native, indexed)
  const insert = inserter(native)
  return {
    ...(schema.idType === 'integer' && { newId: nextInteger(native, run) }),
    find: (read) => run(() => reads.find(read)),
    findJson: (read) => run(() => reads.findJson(read)),
    count: (filter, hints) => run(() => reads.count(filter, hints)),
    aggregate: (read) => run(() => reads.aggregate(read)),
    estimate: () => run(() => native.estimatedDocumentCount()),
    insert: (fields) => run(async () => insert(writes.documentOf(fields))),
    update: (filter, change, options) => run(() => writes.update(filter, change, options)),
    updateMany: (filter, change) => run(() => writes.updateMany(filter, change)),
    delete: (filter, options) => run(() => writes.delete(filter, options)),
  }
}

/**
 * Makes ids that are integers: the next after the greatest one, whatever ids of other types other programs have stored. Two
 * processes may make the same; one insert then fails.
 */
function nextInteger(native: Native, run: Run): () => Promise<string> {
  let last = 0n
  return async () => {
    const [found] = await run(() =>
      native.find(NUMBERED, { sort: { _id: -1 }, limit: 1, projection: { _id: 1 } }).toArray(),
    )
    const greatest = integerIn(found?._id)
    last = (greatest > last ? greatest : last) + 1n
    return String(last)
  }
}

const NUMBERED: Document = { _id: { $type: ['int', 'long', 'double'] } }

/** The greatest integer that is not above a number of BSON: a Long is an object if JavaScript has no such number. */
function integerIn(id: unknown): bigint {
  if (typeof id !== 'number') return BigInt(String(id ?? 0))
  return Number.isFinite(id) ? BigInt(Math.floor(id)) : 0n
}
