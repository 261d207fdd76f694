/** Stores, as command lines name them. */

import { existsSync } from 'node:fs'
import type { Store } from '../../src/ports/store/store.ts'
import { type D1Binding, d1Store } from '../stores/sqlite/calls/d1.ts'
import { type BindingOptions, openBindings } from './bindings.ts'
import { Unusable } from './unusable.ts'

export const STORES = `<store>    sqlite:<file>, mongodb://host/database, postgres://host/database[?schema=name], or d1:<binding>, a database of your
             wrangler.toml`

export function checkAddress(option: string, address: string): void {
  if (fileIn(address) !== undefined || POSTGRES.test(address) || nameIn('d1:', address)) return
  if (!MONGODB.test(address)) {
    // A password is for no log.
    const told = address.replace(/^[^@]*@|\/\/[^]*/, '…')
    throw new Unusable(
      `${option}: '${told}' is not a store; write sqlite:<file>, mongodb://host/database, postgres://host/database or d1:<binding>`,
    )
  }
  if (!NAMED.test(address)) {
    throw new Unusable('the address names no database; write mongodb://host/database')
  }
}

/** The same for a store that is read: its file must exist. */
export function checkSource(option: string, address: string): void {
  checkAddress(option, address)
  const file = fileIn(address)
  if (file !== undefined && !existsSync(file)) throw new Unusable(`there is no file '${file}'`)
}

/** Opens a store by its address, which was checked. A SQLite file that doesn't exist is made. */
export async function openStore(address: string, bindings: BindingOptions = {}): Promise<Store> {
  const path = fileIn(address)
  if (path !== undefined) {
    const { sqliteStore } = await import('../stores/sqlite/node.ts')
    return sqliteStore({ path })
  }
  if (MONGODB.test(address)) {
    const { mongoStore } = await import('../stores/mongodb/index.ts')
    return mongoStore({ url: address })
  }
  if (POSTGRES.test(address)) {
    const { postgresStore } = await import('../stores/postgres/index.ts')
    const [, schema] = /[?&]schema=([^&]+)/.exec(address) ?? []
    const url = address.replace(/([?&])schema=[^&]*&?/, '$1')
    return postgresStore({ url, ...(schema && { schema: decodeURIComponent(schema) }) })
  }
  return openD1(nameIn('d1:', address) ?? '', bindings)
}

const MONGODB = /^mongodb(?:\+srv)?:/
const POSTGRES = /^postgres(?:ql)?:/

/** An address of MongoDB with the name of a database; without one, the driver takes `test`. */
const NAMED = /^[^:]+:\/\/[^/?]+\/[^?]/

async function openD1(binding: string, options: BindingOptions): Promise<Store> {
  const { env, close } = await openBindings(options)
  const database = env[binding]
  if (!isD1(database)) {
    const others = Object.keys(env).filter((name) => isD1(env[name]))
    await close()
    const known = others.length > 0 ? `; it binds ${others.join(', ')}` : ''
    throw new Unusable(`your wrangler configuration binds no D1 database as '${binding}'${known}`)
  }
  const store = d1Store(database)
  return { ...store, close: () => store.close().finally(close) }
}

function isD1(value: unknown): value is D1Binding {
  return typeof value === 'object' && value !== null && 'prepare' in value && 'batch' in value
}

/** The file that an address of SQLite names; undefined for another address. */
function fileIn(address: string): string | undefined {
  const file = nameIn('sqlite:', address)
  if (file?.trim() === '') throw new Unusable('the address names no file; write sqlite:<file>')
  // `file:` begins an address of SQLite's own, which may be in memory too.
  if (file !== undefined && /^(?::memory:|file:)/i.test(file)) {
    throw new Unusable(`'${address}' may be in memory, and be gone in the end; write sqlite:<file>`)
  }
  return file
}

/** What comes after `scheme`; undefined for another address. */
function nameIn(scheme: string, address: string): string | undefined {
  return address.startsWith(scheme) ? address.slice(scheme.length) : undefined
}
