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

/** Writes to the collection of `schema`, which is `native` in the database; with a session, in its transaction. */
export class Writes {
  readonly #schema: CollectionSchema
  readonly #native: Native
  readonly #indexed: () => Indexed

  /** `indexed` gives the paths with a search index. */
  constructor(schema: CollectionSchema, native: Native, indexed: () => Indexed) {
    this.#schema = schema
    this.#native = native
    this.#indexed = indexed
  }

  /** A new record as it is stored. */
  documentOf(fields: Fields): Document {
    const { shape, version } = this.#schema
    const document = toDocument(fields, shape)
    addGrams(document, this.#indexed())
    // Without a number Mongoose would not notice that the version has changed.
    if (version) document[version.key] = 0
    return document
  }

  async insert(fields: Fields, session: ClientSession): Promise<void> {
    await this.#native.insertOne(this.documentOf(fields), { session })
  }

  async update(
    filter: Filter,
    change: Change,
    options?: WriteOptions,
    session?: ClientSession,
  ): Promise<Fields | null> {
    const after = { returnDocument: 'after', ...(session && { session }) } as const
    const stages = this.#stagesOf(change)
    return this.#one(filter, options, session, (query) =>
      this.#native.findOneAndUpdate(query, stages, after),
    )
  }

  async updateMany(filter: Filter, change: Change, session?: ClientSession): Promise<number> {
    const [query, stages] = [this.#queryOf(filter), this.#stagesOf(change)]
    return (await this.#native.updateMany(query, stages, session && { session })).matchedCount
  }

  async delete(
    filter: Filter,
    options?: WriteOptions,
    session?: ClientSession,
  ): Promise<Fields | null> {
    return this.#one(filter, options, session, (query) =>
      this.#native.findOneAndDelete(query, session ? { session } : {}),
    )
  }

  /** Removes every document that matches, and resolves to their records. */
  async deleteMany(filter: Filter, session: ClientSession): Promise<Fields[]> {
    const query = this.#queryOf(filter)
    // The snapshot of the transaction has the same documents both times.
    const found = await this.#native.find(query, { session }).toArray()
    if (found.length > 0) await this.#native.deleteMany(query, { session })
    return found.map((document) => fromDocument(document, this.#schema.shape))
  }

  /**
   * Whether a document matches and holds what is expected. It is changed, because a snapshot alone keeps no other transaction from removing it:
   * only two writes of one document conflict.
   */
  async lock(
    filter: Filter,
    options: WriteOptions | undefined,
    session: ClientSession,
  ): Promise<boolean> {
    const found = await this.#one(filter, options, session, (query) =>
      this.#native.findOneAndUpdate(query, { $inc: { [LOCK]: 1 } }, { session }),
    )
    return found !== null
  }

  /** Whether a document matches in the transaction's snapshot. */
  async isThere(filter: Filter, session: ClientSession): Promise<boolean> {
    const options = { session, projection: { _id: 1 } }
    return (await this.#native.findOne(this.#queryOf(filter), options)) !== null
  }

  /** A record in the transaction's snapshot that matches and holds what is expected. */
  hold(
    filter: Filter,
    options: WriteOptions | undefined,
    session: ClientSession,
  ): Promise<Fields | null> {
    return this.#one(filter, options, session, (query) => this.#native.findOne(query, { session }))
  }

  /** The records in the transaction's snapshot that match. */
  async holdAll(filter: Filter, session: ClientSession): Promise<Fields[]> {
    const found = await this.#native.find(this.#queryOf(filter), { session }).toArray()
    return found.map((document) => fromDocument(document, this.#schema.shape))
  }

  /** The record that `write` returns for the one document that matches and holds what is expected. */
  async #one(
    filter: Filter,
    options: WriteOptions | undefined,
    session: ClientSession | undefined,
    write: (query: Query<Document>) => Promise<Document | null>,
  ): Promise<Fields | null> {
    const { shape } = this.#schema
    const matching = { in: this.#native, query: this.#queryOf(filter), shape, session }
    const document = await writeExpecting(matching, options?.expect, write)
    return document && fromDocument(document, shape)
  }

  #stagesOf(change: Change): Document[] {
    return compileChange(change, this.#schema, this.#indexed())
  }

  #queryOf(filter: Filter): Query<Document> {
    return compileFilter(filter, this.#schema.shape, this.#indexed())
  }
}
