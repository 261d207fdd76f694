/**
 * The SQLite store on `node:sqlite`, for Node, Deno and Bun: one file, nothing to install. Use it while one machine is
 * enough.
 *
 * @module
 */

import { checkOptions, type Fail, failAs, whatever } from '../../../src/model/option-rules.ts'
import type { Store } from '../../../src/ports/store/store.ts'
import { MEMORY, pathToOpen } from './connection/opening.ts'
import { openStore } from './store/open.ts'

const fail: Fail = failAs('sqliteStore')

/** Where the database is. */
export interface SqliteOptions {
  /** The file's path; its folder must exist. Default: `:memory:`, a database that is lost when the process ends. */
  readonly path?: string
}

/** The store, which knows its file. */
export interface SqliteStore extends Store {
  /** As the options have it. */
  readonly path: string
}

/**
 * A store in one SQLite file, which several processes of a machine may share. A write resolves when it is on disk;
 * concurrent writes share a transaction. Reads that take longer than a few milliseconds run on their own threads.
 * Throws if the file cannot be opened, and a `TypeError` if `path` is empty or undefined, as from a variable of the
 * environment that is not set: nobody would notice until everything is lost.
 */
export function sqliteStore(options: SqliteOptions = {}): SqliteStore {
  checkOptions(options, { path: whatever }, 'sqliteStore')
  const { path } = { path: MEMORY, ...options }
  if (path === undefined) {
    fail(
      "'path' is undefined. If it comes from the environment, set the variable; for a database in memory, leave it out",
    )
  }
  // SQLite would open a temporary file for an empty name, which is removed in the end.
  if (typeof path !== 'string' || path.trim() === '') {
    fail(`'path' must be the name of a file, or '${MEMORY}'`)
  }
  return { ...openStore(pathToOpen(path)), path }
}
