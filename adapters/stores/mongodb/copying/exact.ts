/** A collection with its documents as BSON, for copies: all types stay as they are, and so do members that no model has. */

import { BSON, type Collection, type Document, ObjectId } from 'mongodb'
import type { Copyable, ForeignBatch } from '../../../../src/ports/store/copying.ts'
import { inserter } from '../calls/writes.ts'
import type { Run } from '../connection/connection.ts'
import { isTagged } from '../documents/documents.ts'
import { GRAMS } from '../search/grams.ts'

const BATCH = 1000

/** Every type as a class of its own: by default a Long becomes a number, and a Double is not told from an Int32. */
const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
} as const

/** The documents of `native`, without the data of search indexes. */
export function exactCollection(native: Collection, run: Run): Copyable<Uint8Array> {
  const insert = inserter(native)
  const batches = () => storedBatches(native, run)
  return {
    count: () => run(() => native.countDocuments()),
    batches,
    counterparts: (records) =>
      run(async () => {
        const ids = records.map((record) => documentOf(record)._id)
        const found = await native.find<Uint8Array>({ _id: { $in: ids } }, READ).toArray()
        return new Map(found.map((record) => [idOf(record), record]))
      }),
    insert: (record) => run(() => insert(storable(record))),
    idOf,
    contentOf,
    async *foreign() {
      for await (const batch of batches()) yield lossesIn(batch)
    },
  }
}

const READ = { raw: true, projection: { [GRAMS]: 0 } } as const

/** All documents in the order of their ids, as BSON. */
export async function* storedBatches(
  native: Collection,
  run: Run,
): AsyncGenerator<readonly Uint8Array[]> {
  const cursor = native.find<Uint8Array>({}, { ...READ, sort: { _id: 1 }, batchSize: BATCH })
  const next = async () => {
    const batch: Uint8Array[] = []
    for (let record = await cursor.next(); record; record = await cursor.next()) {
      if (batch.push(record) === BATCH) break
    }
    return batch
  }
  try {
    for (;;) {
      const batch = await run(next)
      if (batch.length > 0) yield batch
      if (batch.length < BATCH) return
    }
  } finally {
    await cursor.close()
  }
}

/** A document, each value of it as the type that it is stored as. */
export function documentOf(record: Uint8Array): Document {
  return BSON.deserialize(record, AS_STORED)
}

/** The id as a string that no other id has: that of an ObjectId is its hexadecimal digits. */
export function idOf(record: Uint8Array): string {
  const { _id } = documentOf(record)
  return _id instanceof ObjectId ? _id.toHexString() : BSON.EJSON.stringify(_id, { relaxed: false })
}

/** What the driver makes of a document: members that are named by numbers come first. */
function contentOf(record: Uint8Array): Uint8Array {
  return BSON.serialize(storable(record), { ignoreUndefined: true })
}

const TYPE = '_bsontype'

/** A document for the driver, which would take an object with a member `_bsontype` for one of its types. */
function storable(record: Uint8Array): Document {
  const document = documentOf(record)
  return Buffer.from(record).includes(TYPE) ? (untyped(document) as Document) : document
}

function untyped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(untyped)
  if (typeof value !== 'object' || value === null) return value
  if (isTagged(value) || value instanceof Date) return value
  const members = Object.entries(value).map(([key, member]) => [key, untyped(member)] as const)
  return Object.hasOwn(value, TYPE) ? new Map(members) : Object.fromEntries(members)
}

function lossesIn(records: readonly Uint8Array[]): ForeignBatch {
  const changed = records.filter((record) => Buffer.compare(record, contentOf(record)) !== 0)
  const values = changed.map((record) => ({
    id: idOf(record),
    field: '',
    type: 'BSON that the driver writes in another way',
    becomes: 'members named by numbers come first; undefined members are left out',
  }))
  return { read: records.length, values }
}
