/**
 * Database files of a test run, and a look into them past the store.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'
import { Connection } from '../../../adapters/stores/sqlite/connection/connection.ts'
import type { Row } from '../../../adapters/stores/sqlite/layout/sql.ts'

const folder = join(inject('folder'), randomUUID())
let files = 0
// Early where the test file has a process of its own: databases can be large.
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The path of a file that is not there yet, in a folder that goes with the run. */
export function newFile(): string {
  mkdirSync(folder, { recursive: true })
  files += 1
  return join(folder, `${files}.db`)
}

/** The rows of a statement on a database file. */
export function rowsOf(path: string, sql: string): readonly Row[] {
  const connection = new Connection(path)
  try {
    return connection.rows({ sql, values: [] })
  } finally {
    connection.close()
  }
}

/** `ok`, or what is broken. */
export function integrityOf(path: string): unknown {
  return rowsOf(path, 'PRAGMA integrity_check')[0]?.integrity_check
}
