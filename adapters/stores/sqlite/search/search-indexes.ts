/** The search indexes of a database: which collections have one, and when changed rows are merged into it. */

import { setImmediate } from 'node:timers'
import type { MaybePromise } from '../../../../src/ports/promises/maybe-promise.ts'
import type { CollectionSchema } from '../../../../src/ports/store/store.ts'
import type { Connection } from '../connection/connection.ts'
import { DEADLINE } from '../connection/functions.ts'
import type { Candidates, Found, FoundRows, Search, Shadow } from '../layout/records.ts'
import { type Row, type Statement, statement } from '../layout/sql.ts'
import { mergeSearch, type SearchIndex, searchIndexOf } from './full-text.ts'

/** Searches check each row that has not been merged yet; this many cost a fraction of a millisecond. */
const MAX_UNSEARCHED = 256

/** The index of one collection, and how many rows were written since some were merged into it. */
export interface Index {
  readonly parts: SearchIndex
  changes: number
}

const FIND_FTS5 = statement("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
const TRIGRAM = 3
/** If more rows than this match, the first in order are found sooner without the index. */
const MAX_FOUND = 1000

export class SearchIndexes {
  /** By collection; one that is not searched has none. */
  readonly byCollection: Map<string, Index> = new Map()
  readonly #connection: Connection
  #isOver = false
  #available: boolean | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Whether this SQLite has full-text search. Checked only when needed: another process may have the file's lock. */
  get available(): boolean {
    this.#available ??= this.#connection.rows(FIND_FTS5).length > 0
    return this.#available
  }

  /** Call this when the tables of `schemas` are ready. Merges the rows that other processes have left. */
  prepared(schemas: readonly CollectionSchema[]): void {
    if (!this.available) return
    for (const schema of schemas) {
      if (schema.searchable.length === 0) continue
      const index = { parts: searchIndexOf(schema), changes: MAX_UNSEARCHED }
      this.byCollection.set(schema.name, index)
      this.changed(index, 0)
    }
  }

  /** The conditions for any number of rows. A term without a trigram may be in most of them: it scans. */
  candidates({ name }: CollectionSchema): Candidates {
    return ({ column }, text, parameters) => {
      const parts = this.byCollection.get(name)?.parts
      if (!parts || !hasTrigram(text)) return undefined
      const found = matching(parts.index, column, parameters.bind(phraseOf(text)))
      // The index's result is complete before any row is checked.
      return `rowid IN (${found} AND ${DEADLINE} UNION ALL SELECT rowid FROM ${parts.notes})`
    }
  }

  /**
   * The same for the first rows in order. The index is queried by `read` for the `searches` beforehand, once for each,
   * because its time grows with the records. The notes are read in the same statement, because another process may merge
   * them before the next one.
   */
  async found(
    { name }: CollectionSchema,
    searches: readonly Search[],
    read: (statement: Statement) => MaybePromise<readonly Row[]>,
  ): Promise<FoundRows | undefined> {
    const index = this.byCollection.get(name)
    if (!index) return undefined
    const found = new Map<string, Found>()
    for (const search of searches) {
      if (search.text === '') continue
      const [row] = await read(searching(index.parts, search))
      const matched = Number(row?.found)
      // An app that only reads merges what others write.
      this.changed(index, Math.max(0, Number(row?.all) - matched - MAX_UNSEARCHED))
      const rowids = matched <= MAX_FOUND ? String(row?.rowids) : undefined
      found.set(search.key, { ...search, rowids })
    }
    return found
  }

  changed(index: Index, rows: number): void {
    if (this.#isOver) return
    index.changes += rows
    if (index.changes < MAX_UNSEARCHED) return
    index.changes = 0
    setImmediate(() => this.#merge(index))
  }

  /** From now on, this merges nothing: another process does, or the store is closed. */
  leave(): void {
    this.#isOver = true
  }

  #merge(index: Index): void {
    if (this.#isOver) return
    try {
      if (!mergeSearch(this.#connection, index.parts)) setImmediate(() => this.#merge(index))
    } catch {
      // The disk is full, or another process is writing. The rows stay noted, and the merge after the next write takes
      // them.
      index.changes = MAX_UNSEARCHED
    }
  }
}

/** Counts and lists what the index finds, up to a number that is too many, with the rows that are noted. */
function searching({ index, trigrams, notes }: SearchIndex, { shadow, text }: Search): Statement {
  const { sql, values } = hasTrigram(text)
    ? { sql: matching(index, shadow.column, '?1'), values: [phraseOf(text)] }
    : beginning(trigrams, shadow, text)
  const limited = `SELECT rowid FROM (${sql}) WHERE ${DEADLINE} LIMIT ${MAX_FOUND + 1}`
  const noted = `SELECT rowid, 0 FROM ${notes}`
  return {
    sql: `SELECT sum(isFound) AS found, count(*) AS "all", json_group_array(rowid) AS rowids FROM (SELECT rowid, 1 AS isFound FROM (${limited}) UNION ALL ${noted})`,
    values,
  }
}

/** The rows with a trigram that begins with `text`, a row once for each. */
function beginning(trigrams: string, { name }: Shadow, text: string): Statement {
  const range = 'term >= ?1 AND term <= ?1 || char(1114111, 1114111)'
  return {
    sql: `SELECT doc AS rowid FROM ${trigrams} WHERE ${range} AND col = ?2`,
    // FTS5 takes these two for an error of UTF-8. In a phrase it does so by itself.
    values: [text.replaceAll(/[\ufffe\uffff]/g, '\ufffd'), name],
  }
}

function matching(index: string, column: string, phrase: string): string {
  return `SELECT rowid FROM ${index} WHERE ${column} MATCH ${phrase}`
}

function phraseOf(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

function hasTrigram(text: string): boolean {
  return text.length >= 2 * TRIGRAM || [...text].length >= TRIGRAM
}
