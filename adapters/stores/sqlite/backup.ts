/**
 * A copy of a database while it is in use.
 *
 * @module
 */

import { existsSync, rmSync, statSync } from 'node:fs'
import { Connection } from './connection.ts'
import { identifier } from './sql.ts'

/** What a backup holds. */
export interface BackedUp {
  readonly bytes: number
  /** The collections, each with the number of its records. */
  readonly collections: readonly { readonly name: string; readonly records: number }[]
}

/**
 * Copies the database in the file `path` to a new file, as it is at one moment: other processes go on reading and
 * writing. The copy is then checked. Throws, and leaves no copy, where that file is there already or the check fails.
 */
export function backUp(path: string, to: string): BackedUp {
  if (existsSync(to)) throw new Error(`'${to}' is there already: name a new file, or remove it`)
  try {
    copy(path, to)
    return checked(to)
  } catch (error) {
    for (const file of [to, `${to}-journal`]) rmSync(file, { force: true })
    throw error
  }
}

function copy(path: string, to: string): void {
  const source = new Connection(path, { readOnly: true })
  try {
    source.rows({ sql: 'VACUUM INTO ?', values: [to] })
  } finally {
    source.close()
  }
}

function checked(path: string): BackedUp {
  const connection = new Connection(path, { readOnly: true })
  const rows = (sql: string) => connection.rows({ sql, values: [] })
  try {
    const faults = rows('PRAGMA integrity_check').map(({ integrity_check }) =>
      String(integrity_check),
    )
    if (faults.join() !== 'ok')
      throw new Error(`the copy is damaged: ${faults.slice(0, 3).join('; ')}`)
    const tables = rows(
      `SELECT t.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c ON c.name = 'doc'
       WHERE t.type = 'table' AND t.schema = 'main' ORDER BY t.name`,
    )
    const collections = tables.map(({ name }) => {
      const [row] = rows(`SELECT COUNT(*) AS records FROM ${identifier(String(name))}`)
      return { name: String(name), records: Number(row?.records) }
    })
    return { bytes: statSync(path).size, collections }
  } finally {
    connection.close()
  }
}
