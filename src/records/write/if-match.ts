/**
 * `If-Match` on PATCH and DELETE: a write based on an older state than the stored one is refused, so that no client
 * overwrites what it has never seen (RFC 9110 13.1.1).
 *
 * @module
 */

import { etagOf, ifMatch, stateIn } from '../../cache/conditional.ts'
import { entryNotFound, recordChanged } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Filter } from '../../ports/filter.ts'
import { readRecord } from '../read/read.ts'
import { scopeOf } from '../rules/scope.ts'
import type { Resource } from '../setup/resource.ts'
import { type Seen, seenAs } from './seen.ts'

/**
 * The record that must still be the same at the moment of the write; undefined without a condition. `*` accepts any existing
 * record, as every write does. Throws a 404, or a 412 if the client has another version than a read would show.
 */
export async function expectedRecord(
  resource: Resource,
  request: ApiRequest,
  filter: Filter,
): Promise<Seen | undefined> {
  const condition = ifMatch(request.headers)
  if (condition === 'none' || condition === 'any') return undefined
  // Read the record before its JSON: a change in between makes the write fail, and never pass.
  const record = await resource.engine.first(filter)
  if (!record) throw entryNotFound()
  // Outside of the read scope there is no version that the client can have.
  const reads = await scopeOf(resource.model, resource.scope.read, request)
  if (!reads.admits(record)) throw recordChanged()
  // Links that have been signed anew since are not a change.
  const state = stateIn(etagOf(await readRecord(resource, request)))
  if (!condition.some((tag) => stateIn(tag) === state)) throw recordChanged()
  return seenAs(resource, record, recordChanged())
}
