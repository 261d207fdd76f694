/**
 * The search indexes of a database: which collections have one, and when they take over what was written.
 *
 * @module
 */

import type { CollectionSchema } from '../../../src/ports/store.ts'
import type { Candidates, Search } from './compile.ts'
import type { Connection } from './connection.ts'
import { candidatesIn, foundIn, hasFullText, mergeSearch } from './search.ts'
import type { Row, Statement } from './sql.ts'

/** Searches look at each row that has not been taken over: so many cost a fraction of a millisecond. */
const MOST_UNSEARCHED = 256

interface Index {
  readonly candidates: Candidates
  /** Rows that this process has changed since it last took them over. */
  changes: number
}

/** The search indexes of one connection's database. */
export class SearchIndexes {
  readonly #connection: Connection
  readonly #indexes = new Map<string, Index>()
  #closed = false
  #available: boolean | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Whether this SQLite can search at all. Not asked before it is needed: another process may have the file's lock. */
  get available(): boolean {
    this.#available ??= hasFullText(this.#connection)
    return this.#available
  }

  /** The tables of `schemas` are ready. What other processes have left is taken over. */
  prepared(schemas: readonly CollectionSchema[]): void {
    if (!this.available) return
    for (const schema of schemas) {
      if (schema.searchable.length === 0) continue
      this.#indexes.set(schema.name, {
        candidates: candidatesIn(schema.name),
        changes: MOST_UNSEARCHED,
      })
      this.changed(schema, 0)
    }
  }

  /** The rows to look at, in a statement for all that match. */
  candidates({ name }: CollectionSchema): Candidates | undefined {
    return this.#indexes.get(name)?.candidates
  }

  /** The rows to look at, in a read of the first in order; `read` asks the index. */
  async found(
    { name }: CollectionSchema,
    searches: readonly Search[],
    read: (statement: Statement) => Promise<readonly Row[]>,
  ): Promise<Candidates | undefined> {
    return this.#indexes.has(name) ? foundIn(name, searches, read) : undefined
  }

  /** So many rows of a collection were written. */
  changed(schema: CollectionSchema, rows: number): void {
    const index = this.#indexes.get(schema.name)
    if (!index) return
    index.changes += rows
    if (index.changes < MOST_UNSEARCHED) return
    index.changes = 0
    setImmediate(() => this.#merge(schema))
  }

  close(): void {
    this.#closed = true
  }

  #merge(schema: CollectionSchema): void {
    if (this.#closed) return
    try {
      if (!mergeSearch(this.#connection, schema)) setImmediate(() => this.#merge(schema))
    } catch {
      // A full disk, or another process writes; the rows stay noted, and the merge after the next write takes them.
      const index = this.#indexes.get(schema.name)
      if (index) index.changes = MOST_UNSEARCHED
    }
  }
}
