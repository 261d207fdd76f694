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
import type { StepWrites, Turned } from '../../changes/noting.ts'
import { expecting } from '../../expecting.ts'
import { gather } from '../../gather.ts'
import { encode, fromDocument, LOCK, type Stored, toDocument } from '../documents/documents.ts'
import { compileFilter } from '../query/filter.ts'
import { addGrams, isStill } from '../search/grams.ts'
import { compileChange, replacing } from './change.ts'

/** Writes to a collection. */
export class Writes implements StepWrites {
  readonly #to: Stored
  readonly #within: { readonly session?: ClientSession }

  /** With a session, the writes are part of its transaction. */
  constructor(to: Stored, session?: ClientSession) {
    this.#to = to
    this.#within = session ? { session } : {}
  }

  /** A new record as it is stored. */
  documentOf(fields: Fields): Document {
    const { shape, version } = this.#to.schema
    const document = toDocument(fields, shape)
    addGrams(document, this.#to.indexed())
    // Without a number Mongoose would not notice that the version has changed.
    if (version) document[version.key] = 0
    return document
  }

  async insert(fields: Fields): Promise<void> {
    await this.#to.native.insertOne(this.documentOf(fields), this.#within)
  }

  update(filter: Filter, change: Change, options?: WriteOptions): Promise<Fields | null> {
    return this.#updated(filter, this.#stagesOf(change, options), options)
  }

  async turn(filter: Filter, change: Change, options?: WriteOptions): Promise<Turned | null> {
    const replaced = replacing(change, this.#to.schema)
    if (replaced) {
      const stages = this.#stagesOf(change, options)
      const before = await this.#updated(filter, stages, options, 'before')
      return before && [before, replaced(before)]
    }
    const before = await this.#found(filter, options)
    const after = before && (await this.update(withId(String(before._id)), change))
    return after && [before, after]
  }

  async updateMany(filter: Filter, change: Change): Promise<number> {
    const stages = this.#stagesOf(change)
    const written = await this.#to.native.updateMany(this.#queryOf(filter), stages, this.#within)
    return written.matchedCount
  }

  delete(filter: Filter, options?: WriteOptions): Promise<Fields | null> {
    return this.#one(filter, options, (query) =>
      this.#to.native.findOneAndDelete(query, this.#within),
    )
  }

  /** Removes every document that matches, and resolves to their records; in a transaction only. */
  async deleteMany(filter: Filter): Promise<Fields[]> {
    // The snapshot of the transaction has the same documents both times.
    const found = await this.holdAll(filter)
    if (found.length > 0) await this.#to.native.deleteMany(this.#queryOf(filter), this.#within)
    return found
  }

  /** It is changed, because a snapshot alone keeps no other transaction from removing it: only two writes of one document conflict. */
  async keep(filter: Filter, options?: WriteOptions): Promise<boolean> {
    return (await this.#updated(filter, { $inc: { [LOCK]: 1 } }, options)) !== null
  }

  async isThere(filter: Filter): Promise<boolean> {
    return (await this.#found(filter)) !== null
  }

  /** In a transaction, it stays as it is until this writes it. */
  #found(filter: Filter, options?: WriteOptions): Promise<Fields | null> {
    return this.#one(filter, options, (query) => this.#to.native.findOne(query, this.#within))
  }

  async holdAll(filter: Filter): Promise<Fields[]> {
    const found = await this.#to.native.find(this.#queryOf(filter), this.#within).toArray()
    return found.map((document) => fromDocument(document, this.#to.schema.shape))
  }

  #updated(
    filter: Filter,
    update: Document | Document[],
    options?: WriteOptions,
    returnDocument: 'before' | 'after' = 'after',
  ): Promise<Fields | null> {
    return this.#one(filter, options, (query) =>
      this.#to.native.findOneAndUpdate(query, update, { ...this.#within, returnDocument }),
    )
  }

  /** The record that `write` returns for the one document that matches and holds what is expected. */
  async #one(
    filter: Filter,
    options: WriteOptions | undefined,
    write: (query: Document) => Promise<Document | null>,
  ): Promise<Fields | null> {
    const { shape } = this.#to.schema
    const query = this.#queryOf(filter)
    const document = await expecting<Document[], Document>(options?.expect, {
      asWritten: (values) =>
        Object.entries(values).map(([field, value]) =>
          isStill(field, encode(value, shape.fields.get(field))),
        ),
      find: async (fields) => {
        const found = await this.#to.native.findOne(query, { ...this.#within, raw: true })
        if (!found) return undefined
        const bytes = found as unknown as Uint8Array
        const held = () => {
          // Otherwise numbers become JavaScript's own, which are rounded.
          const stored = BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true })
          return fields.map((field) => isStill(field, stored[field]))
        }
        return { record: fromDocument(BSON.deserialize(bytes), shape), held }
      },
      // Not the query language's equality, which would match a value inside a list, and match null if the field is missing.
      write: (held) =>
        write(held.length === 0 ? query : { $and: [query, { $expr: { $and: held } }] }),
    })
    return document && fromDocument(document, shape)
  }

  #stagesOf(change: Change, { expect }: WriteOptions = {}): Document[] {
    return compileChange(change, this.#to.schema, this.#to.indexed(), expect)
  }

  #queryOf(filter: Filter): Document {
    return compileFilter(filter, this.#to.schema.shape, this.#to.indexed())
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
  // The driver wraps even a lost connection; then neither the name nor the cause tells.
  throw error.errorResponse instanceof Error ? error.errorResponse : error
}
