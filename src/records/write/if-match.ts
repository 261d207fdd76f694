/**
 * `If-Match` on PATCH and DELETE: a write that rests on an older state than the stored one is refused, so that no
 * client overwrites what it has never seen (RFC 9110 13.1.1).
 *
 * @module
 */

import { ifMatch } from '../../cache/conditional.ts'
import { etagOf, stateIn } from '../../cache/etag.ts'
import { entryNotFound, recordChanged } from '../../http/refusals.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import { read } from '../read/read.ts'
import type { Resource } from '../setup/resource.ts'

/**
 * What the record must still be at the moment of the write; undefined without a condition. `*` asks for any
 * record, which every write does. Throws 404, or 412 when a read would show another version than the client has.
 */
export async function expectedRecord(
  resource: Resource,
  request: ApiRequest,
  filter: Filter,
): Promise<Fields | undefined> {
  const condition = ifMatch(request.headers)
  if (condition === 'none' || condition === 'any') return undefined
  // The record before its text: a change in between makes the write fail, and never pass.
  const record = await resource.engine.first(filter)
  if (!record) throw entryNotFound()
  // Links that have been signed anew since are no change.
  const state = stateIn(etagOf(await read(resource, request)))
  if (!condition.some((tag) => stateIn(tag) === state)) throw recordChanged()
  const names = [...resource.model.shape.fields.keys()].filter((name) => name !== '_id')
  return Object.fromEntries(names.map((name) => [name, record[name]]))
}
