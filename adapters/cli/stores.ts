/**
 * Stores, as command lines name them.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import type { Store } from '../../src/ports/store.ts'
import { Unusable } from './command.ts'

/** How a store is named, for the usage of a command. */
export const STORES = `<store>   sqlite:<file>, or a MongoDB URL: mongodb://host/database`

/** Opens a store that must exist, by its address. */
export async function openSource(address: string): Promise<Store> {
  const file = fileOf(address)
  if (file !== undefined && !existsSync(file)) throw new Unusable(`there is no file '${file}'`)
  return openStore(address)
}

/** Opens a store by its address; a SQLite file that doesn't exist is made. The MongoDB driver is loaded on demand. */
export async function openStore(address: string): Promise<Store> {
  const path = fileOf(address)
  if (path !== undefined) {
    const { sqliteStore } = await import('../stores/sqlite/node.ts')
    return sqliteStore({ path })
  }
  if (/^mongodb(?:\+srv)?:/.test(address)) {
    const { mongoStore } = await import('../stores/mongodb/index.ts')
    return mongoStore({ url: address })
  }
  throw new Unusable(`'${address}' is not a store; write sqlite:<file> or mongodb://host/database`)
}

function fileOf(address: string): string | undefined {
  return address.startsWith('sqlite:') ? address.slice('sqlite:'.length) : undefined
}
