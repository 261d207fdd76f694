/**
 * The address of a schema, for tests that give a process one string.
 *
 * @module
 */

import { postgresStore } from '../../../adapters/stores/postgres/index.ts'
import type { Store } from '../../../src/index.ts'

/** The address of `schema` in the database at `url`. */
export function addressOf(url: string, schema: string): string {
  const address = new URL(url)
  address.searchParams.set('schema', schema)
  return address.href
}

/** The store at such an address. */
export function storeAt(address: string): Store {
  const url = new URL(address)
  const schema = url.searchParams.get('schema') ?? 'public'
  url.searchParams.delete('schema')
  return postgresStore({ url: url.href, schema })
}
