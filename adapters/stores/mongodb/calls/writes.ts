/**
 * The writes of one collection, alone or in a transaction.
 *
 * @module
 */

import type { ClientSession, Document, Collection as Native, Filter as Query } from 'mongodb'
import type { Filter } from '../../../../src/ports/filter.ts'
import type { Change, CollectionSchema, Fields, WriteOptions } from '../../../../src/ports/store.ts'
import { fromDocument, LOCK, toDocument } from '../documents/documents.ts'
import { compileFilter } from '../query/filter.ts'
import { addGrams, type Indexed } from '../search/grams.ts'
import { compileChange } from './change.ts'
import { writeExpecting } from './expected.ts'

/** Writes to one collection; with a session, in its transaction. */
export interface Writes {
  /** A new record as it is stored. */
  documentOf(record: Fields): Document
  insert(record: Fields, session: ClientSession): Promise<void>
  update(
    filter: Filter,
    change: Change,
    options?: WriteOptions,
    session?: ClientSession,
  ): Promise<Fields | null>
  updateMany(filter: Filter, change: Change, session?: ClientSession): Promise<number>
  delete(filter: Filter, options?: WriteOptions, session?: ClientSession): Promise<Fields | null>
  /** Removes every document that matches, and resolves to their records. */
  deleteMany(filter: Filter, session: ClientSession): Promise<Fields[]>
  /**
   * Whether a document matches. It is changed, because a snapshot alone keeps no other transaction from removing it:
   * only two writes of one document conflict.
   */
  lock(filter: Filter, session: ClientSession): Promise<boolean>
  /** Whether a document matches in the transaction's snapshot. */
  isThere(filter: Filter, session: ClientSession): Promise<boolean>
}

/** The writes of the collection of `schema`, which is `native` in the database. */
export function writesTo(schema: CollectionSchema, native: Native, indexed: () => Indexed): Writes {
  const { shape, version } = schema
  const stagesOf = (change: Change) => compileChange(change, schema, indexed())

  function record(document: Document | null): Fields | null {
    return document && fromDocument(document, shape)
  }

  function queryOf(filter: Filter): Query<Document> {
    return compileFilter(filter, shape, indexed())
  }

  const matching = (filter: Filter, session: ClientSession | undefined) => ({
    in: native,
    query: queryOf(filter),
    shape,
    session,
  })

  function documentOf(fields: Fields): Document {
    const document = toDocument(fields, shape)
    addGrams(document, indexed())
    // Without a number Mongoose would not notice that the version has changed.
    if (version) document[version.key] = 0
    return document
  }

  return {
    documentOf,

    async insert(fields, session) {
      await native.insertOne(documentOf(fields), { session })
    },

    async update(filter, change, options, session) {
      const after = { returnDocument: 'after', ...(session && { session }) } as const
      const stages = stagesOf(change)
      const updated = await writeExpecting(matching(filter, session), options?.expect, (query) =>
        native.findOneAndUpdate(query, stages, after),
      )
      return record(updated)
    },

    async updateMany(filter, change, session) {
      const stages = stagesOf(change)
      const result = await native.updateMany(queryOf(filter), stages, session && { session })
      return result.matchedCount
    },

    async delete(filter, options, session) {
      const removed = await writeExpecting(matching(filter, session), options?.expect, (query) =>
        native.findOneAndDelete(query, session ? { session } : {}),
      )
      return record(removed)
    },

    async deleteMany(filter, session) {
      // The snapshot of the transaction has the same documents both times.
      const found = await native.find(queryOf(filter), { session }).toArray()
      if (found.length > 0) await native.deleteMany(queryOf(filter), { session })
      return found.map((document) => fromDocument(document, shape))
    },

    async lock(filter, session) {
      const options = { session, projection: { _id: 1 } }
      const found = await native.findOneAndUpdate(queryOf(filter), { $inc: { [LOCK]: 1 } }, options)
      return found !== null
    },

    async isThere(filter, session) {
      const found = await native.findOne(queryOf(filter), { session, projection: { _id: 1 } })
      return found !== null
    },
  }
}
