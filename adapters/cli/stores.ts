/**
 * Stores and their copies, as command lines name them.
 *
 * @module
 */

import { type CopyResult, copyRecords } from '../../src/copy/copy.ts'
import type { Model } from '../../src/model/model.ts'
import type { Store } from '../../src/ports/store.ts'
import { bar, Unusable } from './command.ts'

/** Opens a store by its address; the MongoDB driver is loaded only if it is needed. */
export async function openStore(address: string): Promise<Store> {
  if (address.startsWith('sqlite:')) {
    const { sqliteStore } = await import('../stores/sqlite/node.ts')
    return sqliteStore({ path: address.slice('sqlite:'.length) })
  }
  if (/^mongodb(?:\+srv)?:/.test(address)) {
    const { mongoStore } = await import('../stores/mongodb/index.ts')
    return mongoStore({ url: address })
  }
  throw new Unusable(`'${address}' is not a store; write sqlite:<file> or mongodb://host/database`)
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
