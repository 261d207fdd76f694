/**
 * The SQLite store over `node:sqlite`, on Node, Deno and Bun: a file and nothing to install. Take it while one
 * machine is enough.
 *
 * @module
 */

import type { Store } from '../../../src/ports/store.ts'
import { openStore } from './open.ts'

/** Where the database is. */
export interface SqliteOptions {
  /** The file's path; its folder must exist. Default: `:memory:`, which is gone with the process. */
  readonly path?: string
}

/** The store, which knows its file. */
export interface SqliteStore extends Store {
  /** As the options have it. */
  readonly path: string
}

/**
 * A store in one SQLite file, which several processes of a machine may share. A write is answered when it is on the
 * disk; writes that come together share a transaction. Reads that take longer than a few milliseconds run on threads
 * of their own. Throws when the file cannot be opened.
 */
export function sqliteStore({ path = ':memory:' }: SqliteOptions = {}): SqliteStore {
  return { ...openStore(path), path }
}
