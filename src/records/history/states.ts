/**
 * A record as the log of changes has it: what it was, and who may see that.
 *
 * @module
 */

import { entryNotFound } from '../../http/refusals.ts'
import type { ChangeLog, LoggedChange } from '../../ports/changes.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { Scope } from '../rules/limits.ts'
import type { Resource } from '../setup/resource.ts'

/** The log that the history of a router is in: start-up has made sure that there is one. */
export function logOf({ host }: Pick<Resource, 'host'>): ChangeLog {
  if (!host.changes) throw new TypeError('the store keeps no log of changes')
  return host.changes
}

/**
 * The record as it is, or undefined if it was removed. Throws a 404 if it, or what it was at last, is outside of the scope,
 * or there never was one.
 */
export async function currentIn(
  resource: Pick<Resource, 'host' | 'model' | 'engine'>,
  id: string,
  scope: Scope,
): Promise<Fields | undefined> {
  const record = await resource.engine.first(withId(id))
  const last = record ?? (await lastOf(resource, id))?.before
  if (!last || !scope.admits(last)) throw entryNotFound()
  return record
}

/** The removal of a record, if that is the last that is known of it. */
async function lastOf(
  { host, model }: Pick<Resource, 'host' | 'model'>,
  id: string,
): Promise<LoggedChange | undefined> {
  const [last] = await logOf({ host }).history(model.name, id, { limit: 1 })
  return last?.kind === 'removed' ? last : undefined
}
