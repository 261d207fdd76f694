/**
 * The search indexes of a database: which collections have one, and when changed rows are merged into it.
 *
 * @module
 */

import type { CollectionSchema } from '../../../../src/ports/store.ts'
import type { Connection } from '../connection/connection.ts'
import type { Candidates, Search } from '../layout/shadows.ts'
import type { Row, Statement } from '../layout/sql.ts'
import {
  candidatesIn,
  foundIn,
  hasFullText,
  mergeSearch,
  type SearchNames,
  searchNames,
} from './full-text.ts'

/** Searches check each row that has not been merged yet; this many cost a fraction of a millisecond. */
const MOST_UNSEARCHED = 256

interface Index {
  readonly schema: CollectionSchema
  readonly names: SearchNames
  readonly candidates: Candidates
  /** Rows that this process has changed since the last merge. */
  changes: number
}

/** The search indexes of one connection's database. */
export class SearchIndexes {
  readonly #connection: Connection
  readonly #indexes = new Map<string, Index>()
  #closed = false
  #isLeft = false
  #available: boolean | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Whether this SQLite has full-text search. Checked only when needed: another process may have the file's lock. */
  get available(): boolean {
    this.#available ??= hasFullText(this.#connection)
    return this.#available
  }

  /** Call this when the tables of `schemas` are ready. Merges the rows that other processes have left. */
  prepared(schemas: readonly CollectionSchema[]): void {
    if (!this.available) return
    for (const schema of schemas) {
      if (schema.searchable.length === 0) continue
      const names = searchNames(schema)
      this.#indexes.set(schema.name, {
        schema,
        names,
        candidates: candidatesIn(names),
        changes: MOST_UNSEARCHED,
      })
      this.changed(schema.name, 0)
    }
  }

  /** The rows to check, in a statement for all matches. */
  candidates({ name }: CollectionSchema): Candidates {
    return (shadow, text, parameters) =>
      this.#indexes.get(name)?.candidates(shadow, text, parameters)
  }

  /** The rows to check, in a read of the first in order; `read` queries the index. */
  async found(
    { name }: CollectionSchema,
    searches: readonly Search[],
    read: (statement: Statement) => Promise<readonly Row[]>,
  ): Promise<Candidates | undefined> {
    const index = this.#indexes.get(name)
    // An app that only reads merges what others write.
    const hear = (noted: number) => this.changed(name, Math.max(0, noted - MOST_UNSEARCHED))
    return index && foundIn(index.names, searches, read, hear)
  }

  /** Records that `rows` rows of a collection were written. */
  changed(collection: string, rows: number): void {
    const index = this.#indexes.get(collection)
    if (!index || this.#isLeft) return
    index.changes += rows
    if (index.changes < MOST_UNSEARCHED) return
    index.changes = 0
    setImmediate(() => this.#merge(index.schema))
  }

  /** Leaves merging to another process. */
  leave(): void {
    this.#isLeft = true
  }

  close(): void {
    this.#closed = true
  }

  #merge(schema: CollectionSchema): void {
    if (this.#closed) return
    try {
      if (!mergeSearch(this.#connection, schema)) setImmediate(() => this.#merge(schema))
    } catch {
      // The disk is full, or another process is writing. The rows stay noted, and the merge after the next write takes
      // them.
      const index = this.#indexes.get(schema.name)
      if (index) index.changes = MOST_UNSEARCHED
    }
  }
}
