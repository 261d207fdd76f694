/**
 * The records in SQLite files, kept from run to run.
 *
 * @module
 */

import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { benchApp, Product } from '../fieldgate/app.ts'
import { accountsOf } from './accounts.ts'
import { type Asked, askedOf } from './asked.ts'
import { fillBknd } from './bknd.ts'
import { cursorOf, type Database, type Owner, prepareFieldgate } from './database.ts'
import { fillStore } from './fill.ts'
import { fillPocketbase, pocketbase } from './pocketbase.ts'
import { order, PRODUCTS_PER_ORDER, product } from './products.ts'

const folder = fileURLToPath(new URL('../../.cache/bench/sqlite/', import.meta.url))

/** Of a file whose records were made in another way. */
const VERSION = 6

/** The ends of the names of a database's files; SQLite makes the last one anew. */
const ENDS = ['', '-wal', '-shm']

/** The `size` records in a file or folder for each owner, made where it is not there yet. */
export async function sqliteDatabase(size: number, wanted: readonly Owner[]): Promise<Database> {
  mkdirSync(folder, { recursive: true })
  const asked = askedOf(size)
  const path = (owner: Owner) => `${folder}${owner}-${size}-v${VERSION}.db`
  // Somebody may have tried something on it.
  if (existsSync(path('fieldgate')) && (await countOf(path('fieldgate'))) !== size) {
    remove(path('fieldgate'))
  }
  await make(path('fieldgate'), (file) => fillStore(sqliteStore({ path: file }), size))
  if (wanted.includes('peers')) await make(path('peers'), async (file) => fillPeers(file, asked))
  const program = wanted.includes('pocketbase') ? await pocketbase() : undefined
  if (program !== undefined) {
    await make(path('pocketbase'), (data) => fillPocketbase(program, data, size))
  }
  if (wanted.includes('bknd')) {
    await make(path('bknd'), (file) => fillBknd(file, size))
  }
  await prepareFieldgate(path('fieldgate'), asked)
  const copies = new Set<string>()
  return {
    asked,
    cursor: await cursorOf(asked),
    owners: wanted.filter((owner) => owner !== 'pocketbase' || program !== undefined),
    place(owner, writes) {
      if (!writes) return path(owner)
      const copy = `${folder}${owner}-${size}-${process.pid}-run.db`
      remove(copy)
      for (const end of ENDS.slice(0, 2)) {
        if (existsSync(path(owner) + end))
          cpSync(path(owner) + end, copy + end, { recursive: true })
      }
      copies.add(copy)
      return copy
    },
    async tidy() {
      for (const copy of copies) remove(copy)
    },
    async close() {},
  }
}

/** Makes a file under another name first, so that a run that was stopped leaves no half of one. */
async function make(path: string, fill: (path: string) => Promise<void>): Promise<void> {
  if (existsSync(path)) return
  const unfinished = `${path}.unfinished`
  remove(unfinished)
  await fill(unfinished)
  renameSync(unfinished, path)
}

function remove(path: string): void {
  for (const end of ENDS) rmSync(path + end, { recursive: true, force: true })
}

async function countOf(path: string): Promise<number> {
  const app = benchApp(sqliteStore({ path }))
  const count = await app.store.collection(Product).count()
  await app.close()
  return count
}

/** The tables as one would make them for the bench's requests alone. */
export function fillPeers(path: string, asked: Asked): void {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE product (_id TEXT PRIMARY KEY, category TEXT NOT NULL, price REAL NOT NULL,
      name TEXT NOT NULL, json TEXT NOT NULL);
    CREATE INDEX product_price ON product (price DESC, _id);
    CREATE INDEX product_category ON product (category, price DESC, _id);
    CREATE TABLE orders (_id TEXT PRIMARY KEY, product TEXT NOT NULL, json TEXT NOT NULL);
    CREATE INDEX orders_product ON orders (product, _id);
    CREATE TABLE account (_id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
      password TEXT NOT NULL);
    BEGIN`)
  const insert = db.prepare('INSERT INTO product VALUES (?, ?, ?, ?, ?)')
  for (let number = 0; number < asked.size; number += 1) {
    const record = product(number)
    const { _id, category, price, name } = record
    insert.run(_id, category, price, name, JSON.stringify(record))
  }
  const orders = db.prepare('INSERT INTO orders VALUES (?, ?, ?)')
  for (let number = 0; number * PRODUCTS_PER_ORDER < asked.size; number += 1) {
    const record = order(number)
    orders.run(record._id, record.product, JSON.stringify(record))
  }
  const account = db.prepare('INSERT INTO account VALUES (?, ?, ?, ?)')
  for (const { _id, email, role, password } of accountsOf(asked)) {
    account.run(_id, email, role, password)
  }
  db.exec('COMMIT')
  db.close()
}
