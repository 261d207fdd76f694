/** The writes of one collection, alone or in a transaction. */

import {
  BSON,
  type ClientSession,
  type Document,
  type MongoBulkWriteError,
  type Collection as Native,
} from 'mongodb'
import { type Filter, withId } from '../../../../src/ports/store/filter.ts'
import type { Fields } from '../../../../src/ports/store/records.ts'
import type { Change, WriteOptions } from '../../../../src/ports/store/store.ts'
import type { StepWrites } from '../../changes/noting.ts'
import { asStored, type Held } from '../../expecting.ts'
import { gather } from '../../gather.ts'
import { unwrapped } from '../connection/errors.ts'
import { encode, fromDocument, LOCK, type Stored } from '../documents/documents.ts'
import { compileFilter } from '../query/filter.ts'
import { addGrams, isStill } from '../search/grams.ts'
import { compileChange, replacing } from './change.ts'

export interface Writes extends StepWrites {
  documentOf(fields: Fields): Document
}

/** The writes of a collection; with a session, they are part of its transaction. */
export function writesOf(stored: Stored, session?: ClientSession): Writes {
  const { native, schema, indexed } = stored
  const { shape, version } = schema
  const within = session ? { session } : {}
  const queryOf = (filter: Filter) => compileFilter(filter, shape, indexed())
  const stagesOf = (change: Change, { expect }: WriteOptions = {}) =>
    compileChange(change, schema, indexed(), expect)

  const documentOf = (fields: Fields): Document => {
    const document = encode(fields, shape) as Document
    addGrams(document, indexed())
    // Without a number Mongoose would not notice that the version has changed.
    if (version) document[version.key] = 0
    return document
  }

  const one = writerOfOne(stored, within)

  const updated = (
    filter: Filter,
    update: Document | Document[],
    options?: WriteOptions,
    returnDocument: 'before' | 'after' = 'after',
  ) =>
    one(filter, options, (query) =>
      native.findOneAndUpdate(query, update, { ...within, returnDocument }),
    )

  /** In a transaction, it stays as it is until this writes it. */
  const found = (filter: Filter, options?: WriteOptions) =>
    one(filter, options, (query) => native.findOne(query, within))

  const holdAll = async (filter: Filter): Promise<Fields[]> => {
    const all = await native.find(queryOf(filter), within).toArray()
    return all.map((document) => fromDocument(document, shape))
  }

  return {
    documentOf,
    async insert(fields) {
      await native.insertOne(documentOf(fields), within)
    },
    update: async (filter, change, options) => updated(filter, stagesOf(change, options), options),
    async turn(filter, change, options) {
      const replaced = replacing(change, schema)
      if (replaced) {
        const before = await updated(filter, stagesOf(change, options), options, 'before')
        return before && [before, replaced(before)]
      }
      const before = await found(filter, options)
      const after = before && (await updated(withId(String(before._id)), stagesOf(change)))
      return after && [before, after]
    },
    async updateMany(filter, change) {
      return (await native.updateMany(queryOf(filter), stagesOf(change), within)).matchedCount
    },
    delete: (filter, options) =>
      one(filter, options, (query) => native.findOneAndDelete(query, within)),
    // In a transaction only, whose snapshot has the same documents both times.
    async deleteMany(filter) {
      const all = await holdAll(filter)
      if (all.length > 0) await native.deleteMany(queryOf(filter), within)
      return all
    },
    // It is changed, because a snapshot alone keeps no other transaction from removing it: only two writes of one document conflict.
    keep: async (filter, options) =>
      (await updated(filter, { $inc: { [LOCK]: 1 } }, options)) !== null,
    isThere: async (filter) => (await found(filter)) !== null,
    holdAll,
  }
}

/** Writes the one document that matches and holds what is expected; resolves to the record that `write` returns. */
function writerOfOne({ native, schema: { shape }, indexed }: Stored, within: object) {
  return async (
    filter: Filter,
    options: WriteOptions = {},
    write: (query: Document) => Promise<Document | null>,
  ): Promise<Fields | null> => {
    const query = compileFilter(filter, shape, indexed())
    const writeHeld = ({ expect = {}, stored }: Held<Document[]>) => {
      const isWritten = (field: string) =>
        isStill(field, encode(expect[field], shape.fields.get(field)))
      const held = stored ?? Object.keys(expect).map(isWritten)
      // Not the query language's equality, which would match a value inside a list, and match null if the field is missing.
      return write(held.length === 0 ? query : { $and: [query, { $expr: { $and: held } }] })
    }
    const find = async (fields: readonly string[]) => {
      const found = await native.findOne(query, { ...within, raw: true })
      if (!found) return undefined
      const bytes = found as unknown as Uint8Array
      const stored = () => {
        // Otherwise numbers become JavaScript's own, which are rounded.
        const exact = BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true })
        return fields.map((field) => isStill(field, exact[field]))
      }
      return { record: fromDocument(BSON.deserialize(bytes), shape), stored }
    }
    const document = (await writeHeld(options)) ?? (await asStored(options.expect, writeHeld, find))
    return document && fromDocument(document, shape)
  }
}

/**
 * Inserts documents into `native`, those of one turn of the event loop in one round trip; if one is refused, only that one
 * fails, with the error that it would have had alone.
 */
export function inserter(native: Native): (document: Document) => Promise<void> {
  async function insertAlone(document: Document): Promise<void> {
    await native.insertOne(document)
  }

  return gather((documents: Document[]) => {
    if (documents.length === 1) return documents.map(insertAlone)
    const refused = native.insertMany(documents, { ordered: false }).then(
      () => new Set<number>(),
      (error: MongoBulkWriteError) => refusedBy(error, documents),
    )
    return documents.map(async (document, index) => {
      if ((await refused).has(index)) await insertAlone(document)
    })
  })
}

/**
 * The documents to try alone, so that each has its own error. The others were acknowledged: only a list of failed
 * documents without a write concern error proves that. An error that affects all of them is thrown.
 */
function refusedBy(error: MongoBulkWriteError, documents: readonly Document[]): Set<number> {
  const culprits = [error.writeErrors ?? []].flat()
  if (culprits.length > 0 && !error.result.getWriteConcernError()) {
    return new Set(culprits.map(({ index }) => index))
  }
  // A document that cannot be written as BSON, or is too large; all are serialised before any is sent.
  if (/^BSON|^MongoInvalidArgument/.test(error.name)) return new Set(documents.keys())
  throw unwrapped(error)
}
