/**
 * Writes that come with a receipt.
 *
 * @module
 */

import type { WriteAction } from '../../ports/store.ts'
import type { Receipt } from '../engine/keyed-writes.ts'
import type { Resource } from '../setup/resource.ts'

/** `resource`, each of whose writes is one with the receipt. */
export function receipted(resource: Resource, receipt: Receipt): Resource {
  const { host, engine } = resource
  const integrity = host.integrity.over(host.engine, (steps) => {
    const created = steps.flatMap(({ action }) =>
      'insert' in action ? [String(action.insert._id)] : [],
    )
    return host.integrity.write(steps, { receipt, ids: [created[0] ?? null] })
  })
  const one = async (action: WriteAction) => {
    const outcome = await integrity.write([{ engine, action }])
    return 'results' in outcome ? outcome.results[0] : undefined
  }
  const { stored } = engine
  const own = engine.over(
    {
      ...stored,
      insert: async (record) => (await one({ insert: record }))?.records[0],
      update: async (update, change, options) =>
        (await one({ update, change, ...(options && { options }) }))?.records[0] ?? null,
      delete: async (filter, options) =>
        (await one({ delete: filter, ...(options && { options }) }))?.records[0] ?? null,
    },
    integrity,
  )
  return { ...resource, engine: own }
}
