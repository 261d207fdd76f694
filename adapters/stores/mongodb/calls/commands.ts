/**
 * Reads as commands: the driver's cursors cost as much again as the command that they send.
 *
 * @module
 */

import type { Abortable, Collection, Document, FindOptions } from 'mongodb'
import type { Connection } from '../connection/connection.ts'
import { isPassing } from '../connection/errors.ts'

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
  readonly #connection: Pick<Connection, 'database' | 'isSharded'>

  constructor(native: Collection, connection: Pick<Connection, 'database' | 'isSharded'>) {
    this.#native = native
    this.#connection = connection
  }

  /** The documents that match. */
  async documents(query: Document, options: Options): Promise<Document[]> {
    const reply = await this.#find(query, options)
    // A reply that is too long ends before the last document.
    if (reply && Number(reply.cursor.id) === 0) return reply.cursor.firstBatch
    return this.#native.find(query, options).toArray()
  }

  /** What a pipeline makes of the documents. */
  groups(pipeline: Document[], { signal, ...options }: Options): Promise<Document[]> {
    return this.#native.aggregate(pipeline, { ...options, ...(signal && { signal }) }).toArray()
  }

  /** The number of documents that match. */
  async count(query: Document, { signal, maxTimeMS }: Options): Promise<number> {
    const limit = maxTimeMS !== undefined && { maxTimeMS }
    const reply = await this.#sent(
      { ...(await this.#counting(query)), ...limit, readConcern },
      { signal },
    )
    if (!reply) return this.#native.countDocuments(query, { ...limit, ...(signal && { signal }) })
    return reply.n ?? reply.cursor.firstBatch[0]?.n ?? 0
  }

  /**
   * The command that counts. `count` looks at an index alone, but without a query it only knows what the last shutdown has
   * saved, and on shards it counts documents that are being moved.
   */
  async #counting(query: Document): Promise<Document> {
    const { collectionName } = this.#native
    if (Object.keys(query).length > 0 && !(await this.#connection.isSharded())) {
      return { count: collectionName, query }
    }
    const pipeline = [{ $match: query }, { $group: { _id: 1, n: { $sum: 1 } } }]
    return { aggregate: collectionName, pipeline, cursor: {} }
  }

  #find(
    filter: Document,
    { signal, batchSize, limit, ...options }: Options,
  ): Promise<Document | undefined> {
    // One more, so that the server knows that it is done.
    const sizes = limit !== undefined && { limit, batchSize: Math.max(batchSize ?? 0, limit + 1) }
    const command = { find: this.#native.collectionName, filter, ...options, ...sizes, readConcern }
    return this.#sent(command, { signal })
  }

  /** The reply; undefined if another try may be worth it. */
  async #sent(
    command: Document,
    { signal }: { signal?: AbortSignal | undefined },
  ): Promise<Document | undefined> {
    try {
      return await this.#connection.database.command(command, signal && { signal })
    } catch (error) {
      if (isPassing(error)) return undefined
      throw error
    }
  }
}
