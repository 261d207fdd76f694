/**
 * Writes that come with a receipt.
 *
 * @module
 */

import { writingBySteps } from '../engine/integrity.ts'
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
  const writing = writingBySteps(async (action) => {
    const outcome = await integrity.write([{ engine, action }])
    return 'results' in outcome ? outcome.results[0] : undefined
  })
  const { insert, update, delete: remove } = writing
  const own = engine.over({ ...engine.stored, insert, update, delete: remove }, integrity)
  return { ...resource, engine: own }
}
