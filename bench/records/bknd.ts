/**
 * bknd's SQLite file: its table made by itself, its records put into the file.
 *
 * @module
 */

import { DatabaseSync } from 'node:sqlite'
import { built } from '../build.ts'
import { startProgram } from '../server.ts'
import { COLUMNS, product, sqlValue } from './products.ts'

/** How it calls what all records have. */
const NAMES: Readonly<Record<string, string>> = {
  _id: 'id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
}

/** The command that serves a file. */
export function servingBknd(path: string): string[] {
  return [
    'env',
    'NODE_ENV=production',
    process.execPath,
    '--no-warnings',
    built('peers/bknd'),
    path,
  ]
}

/** Fills the file with `size` records. */
export async function fillBknd(path: string, size: number): Promise<void> {
  const server = await startProgram(servingBknd(path))
  try {
    // It makes its tables when it is asked for the first time.
    const response = await fetch(`${server.base}/api/data/entity/products`)
    if (!response.ok) throw new Error(`bknd has no products: ${await response.text()}`)
  } finally {
    await server.stop('SIGTERM')
  }
  const db = new DatabaseSync(path)
  const columns = COLUMNS.map((column) => NAMES[column] ?? column)
  const insert = db.prepare(
    `INSERT INTO products (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  db.exec('BEGIN')
  for (let number = 0; number < size; number += 1) {
    const record = product(number)
    insert.run(...COLUMNS.map((column) => sqlValue(record[column])))
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}
