/**
 * Endpoints that have responded with 410: they get nothing any more, until somebody says otherwise.
 *
 * @module
 */

import type { Filter } from '../../ports/filter.ts'
import type { Host } from '../../records/engine/host.ts'
import { idOf, insertOnce, workSchema } from '../lease.ts'

/** The endpoints that are gone. */
export interface GoneEndpoints {
  has(url: string): Promise<boolean>
  add(url: string): Promise<void>
  all(): Promise<readonly string[]>
  /** All get webhooks again. */
  clear(): Promise<void>
}

/** How long what is known is used, in milliseconds. */
const KNOWN_MS = 5000
const MOST = 10_000

/** The endpoints of the webhooks with this name. */
export function goneEndpoints(host: Host, name: string): GoneEndpoints {
  const records = host.collection(workSchema)
  const filter: Filter = { op: 'eq', field: 'name', value: `gone ${name}` }
  let known: { readonly at: number; readonly urls: Promise<ReadonlySet<string>> } | undefined
  const read = async () => {
    const found = await records.find({ filter, sort: [], limit: MOST })
    return new Set(found.map(({ position }) => String(position)))
  }
  return {
    async has(url) {
      if (!known || performance.now() - known.at > KNOWN_MS) {
        known = { at: performance.now(), urls: read() }
        known.urls.catch(() => {
          known = undefined
        })
      }
      return (await known.urls).has(url)
    },
    async add(url) {
      const until = new Date(host.now())
      const _id = idOf('gone', name, url)
      await insertOnce(records, { _id, name: `gone ${name}`, owner: '', until, position: url })
      known = undefined
      host.logger.error(
        `${name}: an endpoint has responded with 410, and gets nothing any more. 'fieldgate changes --retry ${name}' ends this`,
        { to: url.split('?')[0] },
      )
    },
    all: async () => [...(await read())],
    async clear() {
      while ((await records.delete(filter)) !== null);
      known = undefined
    },
  }
}
