/**
 * Database files of a test run, and a look into them past the store.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { Connection } from '../../../adapters/stores/sqlite/connection/connection.ts'
import type { Row } from '../../../adapters/stores/sqlite/layout/sql.ts'

const folder = mkdtempSync(join(tmpdir(), 'fieldgate-sqlite-'))
let files = 0
afterAll(() => rmSync(folder, { recursive: true }))

/** The path of a file that is not there yet, in a folder that goes with the test file. */
export function newFile(): string {
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
