/**
 * A user's record: how it is found and shown, and what its fields mean.
 *
 * @module
 */

import { declaredPart, present, projected } from '../../model/present.ts'
import { withId } from '../../ports/filter.ts'
import type { Fields, Projection } from '../../ports/store.ts'
import { SECRETS } from '../setup/field-names.ts'
import type { AuthInstance } from './instance.ts'

/** What `withoutSecrets` leaves out: each request of a signed-in user asks for it. */
const shown = new WeakMap<AuthInstance, Projection>()

/** A user's record without its secrets, and without what the model does not declare. */
export function withoutSecrets(auth: AuthInstance, record: Fields): Fields {
  return projected(declaredPart(auth.settings.model, record), shownOf(auth))
}

function shownOf(auth: AuthInstance): Projection {
  const known = shown.get(auth)
  if (known) return known
  const secrets = SECRETS.map((name) => auth.names[name])
  const projection = { exclude: [...auth.settings.model.hidden, ...secrets] }
  shown.set(auth, projection)
  return projection
}

/** A user as responses show it, or the part that `select` names. */
export function shownUser(auth: AuthInstance, record: Fields, select?: Projection): unknown {
  const { model, list } = auth.settings
  return present(model, projected(withoutSecrets(auth, record), select), list.lean === true)
}

/** The user with `id`, secrets included. */
export function userById({ engine }: AuthInstance, id: string): Promise<Fields | undefined> {
  return engine.first(withId(id))
}

/** Whether the account may not sign in. */
export function isDisabled({ settings }: AuthInstance, user: Fields): boolean {
  return settings.disabledField !== undefined && user[settings.disabledField] === true
}

/** When the password was last changed, in epoch milliseconds; 0 for never. */
export function changedAt({ names }: AuthInstance, user: Fields): number {
  const value = user[names.passwordChangedAt]
  return value instanceof Date ? value.getTime() : 0
}

/** The time of a password change made now: later than the last one, even if the clock has not advanced. */
export function nextChange(auth: AuthInstance, user: Fields): Date {
  return new Date(Math.max(auth.now(), changedAt(auth, user) + 1))
}

/** Whether a stored date is after `at` (epoch milliseconds); false if it is not a date. */
export function isAfter(date: unknown, at: number): boolean {
  return date instanceof Date && date.getTime() > at
}
