/**
 * Stores and their copies, as command lines name them.
 *
 * @module
 */

import { type CopyResult, copyRecords } from '../../src/copy/copy.ts'
import type { Model } from '../../src/model/model.ts'
import type { Store } from '../../src/ports/store.ts'
import { bar, Unusable } from './command.ts'

/** Opens a store by its address; drivers are loaded only if they are needed. `?schema=` names a schema
 * of PostgreSQL. */
export async function openStore(address: string): Promise<Store> {
  if (address.startsWith('sqlite:')) {
    const { sqliteStore } = await import('../stores/sqlite/node.ts')
    return sqliteStore({ path: address.slice('sqlite:'.length) })
  }
  if (/^mongodb(?:\+srv)?:/.test(address)) {
    const { mongoStore } = await import('../stores/mongodb/index.ts')
    return mongoStore({ url: address })
  }
  if (/^postgres(?:ql)?:/.test(address)) {
    const { postgresStore } = await import('../stores/postgres/index.ts')
    const [, schema] = /[?&]schema=([^&]+)/.exec(address) ?? []
    const url = address.replace(/([?&])schema=[^&]*&?/, '$1')
    return postgresStore({ url, ...(schema && { schema: decodeURIComponent(schema) }) })
  }
  throw new Unusable(
    `'${address}' is not a store; write sqlite:<file>, mongodb://host/database or postgres://host/database`,
  )
}

/** Copies the records of `models` and shows the progress on `stream`. Throws a `CopyMismatch` as `copyRecords` does. */
export function copyWithBar(
  from: Store,
  to: Store,
  models: Iterable<Model>,
  stream: NodeJS.WriteStream,
): Promise<CopyResult[]> {
  return copyRecords(from, to, [...models], bar(stream))
}

/** One line for each collection. */
export function linesOf(results: readonly CopyResult[]): string {
  return results
    .map(
      ({ collection, target, copied, checksum }) =>
        `${collection}: ${target.toLocaleString('en')} records, ${copied.toLocaleString('en')} copied now, checksum ${checksum.slice(0, 16)} on both sides`,
    )
    .join('\n')
}
