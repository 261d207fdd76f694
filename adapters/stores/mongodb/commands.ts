/**
 * Reads as commands: the driver's cursors cost as much again as the command that they send.
 *
 * @module
 */

import type { Abortable, Collection, Db, Document, FindOptions } from 'mongodb'
import { type Bson, bsonOf, int64, membersIn } from './bson.ts'
import { isPassing } from './errors.ts'
import type { Text } from './texts.ts'

/** As the store's database reads; commands take none of its settings over. */
const readConcern = { level: 'majority' }

/** Options of a `find`. */
export type Options = Pick<
  FindOptions & Abortable,
  'batchSize' | 'limit' | 'maxTimeMS' | 'allowDiskUse' | 'projection' | 'signal' | 'skip' | 'sort'
>

/** Reads one collection. What a command cannot finish is asked again through a cursor, which also tries again. */
export class Commands {
  readonly #native: Collection
  readonly #database: Db

  constructor(native: Collection, database: Db) {
    this.#native = native
    this.#database = database
  }

  /** The documents that match. */
  async documents(query: Document, options: Options): Promise<Document[]> {
    const reply = await this.#find(query, options, false)
    // A reply that is too long ends before the last document.
    if (reply && Number(reply.cursor.id) === 0) return reply.cursor.firstBatch
    return this.#native.find(query, options).toArray()
  }

  /** What `text` makes of each document that matches, whose BSON begins at a position. */
  async texts(query: Document, options: Options, text: Text): Promise<string[]> {
    const reply = await this.#find(query, options, true)
    const found = reply && documentsIn(reply.cursor)
    if (found) return found.starts.map((at) => text(found.bson, at))
    const documents = await this.#native
      .find<Uint8Array>(query, { ...options, raw: true })
      .toArray()
    return documents.map((bytes) => text(bsonOf(bytes), 0))
  }

  /** The number of documents that match. */
  async count(query: Document, { signal, ...options }: Options): Promise<number> {
    const pipeline = [{ $match: query }, { $group: { _id: 1, n: { $sum: 1 } } }]
    const command = { aggregate: this.#native.collectionName, pipeline, cursor: {}, readConcern }
    const reply = await this.#sent({ ...command, ...options }, { signal })
    if (!reply) return this.#native.countDocuments(query, { ...options, ...(signal && { signal }) })
    return reply.cursor.firstBatch[0]?.n ?? 0
  }

  #find(
    filter: Document,
    { signal, batchSize, limit, ...options }: Options,
    raw: boolean,
  ): Promise<Document | undefined> {
    // One more, so that the server knows that it is done.
    const sizes = limit !== undefined && { limit, batchSize: Math.max(batchSize ?? 0, limit + 1) }
    const command = { find: this.#native.collectionName, filter, ...options, ...sizes, readConcern }
    return this.#sent(command, { signal, raw })
  }

  /** The reply; undefined if another try may be worth it. */
  async #sent(
    command: Document,
    { signal, raw = false }: { signal?: AbortSignal | undefined; raw?: boolean },
  ): Promise<Document | undefined> {
    try {
      return await this.#database.command(command, { raw, ...(signal && { signal }) })
    } catch (error) {
      if (isPassing(error)) return undefined
      throw error
    }
  }
}

/** Where the documents of a `find`'s reply begin; undefined if they are not all of them. */
function documentsIn(cursor: unknown): { bson: Bson; starts: readonly number[] } | undefined {
  if (!(cursor instanceof Uint8Array)) return undefined
  const bson = bsonOf(cursor)
  const members = new Map(membersIn(bson, 0).map(({ name, at }) => [name, at]))
  const [id, batch] = [members.get('id'), members.get('firstBatch')]
  if (id === undefined || batch === undefined || int64(bson, id) !== 0) return undefined
  return { bson, starts: membersIn(bson, batch).map(({ at }) => at) }
}
