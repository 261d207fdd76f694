/**
 * What a new password changes: all in one conditional step, so that no one ever sees a part of it.
 *
 * @module
 */

import type { Change, Fields } from '../../ports/store.ts'
import type { ProvenIdentifiers, TakeoverParts } from './proven-identifiers.ts'

/** The parts that a new password changes. */
export interface PasswordParts extends TakeoverParts {
  readonly identifiers: ProvenIdentifiers
}

/**
 * The change by which `client` sets the password behind `hash` for `user`. It ends every session, access tokens and
 * pending codes, clears the lockout, and forgets all known clients except this one.
 */
export function passwordChange(
  { users, sessions, clients, codes, lockout }: TakeoverParts,
  user: Fields,
  hash: string,
  client: string | undefined,
): Change & { readonly set: Fields } {
  const { names } = users
  return {
    set: {
      ...lockout.cleared.set,
      ...sessions.allEnded,
      ...clients.only(user, client),
      [names.password]: hash,
      [names.passwordChangedAt]: users.nextChange(user),
    },
    // Someone else may have requested another address, not the person who knows the new password.
    unset: [...lockout.cleared.unset, ...codes.allEnded, ...users.declared([names.pendingEmail])],
  }
}

/**
 * The change for a right code that went to the address in `field`: like `passwordChange`, and if it is the first proof on
 * the account, only what it proves stays. Undefined if the address opens nothing any more.
 */
export function resetChange(
  parts: PasswordParts,
  field: string,
  user: Fields,
  hash: string,
  client: string | undefined,
): Change | undefined {
  const { identifiers, users } = parts
  const change = passwordChange(parts, user, hash, client)
  if (!identifiers.mayIdentify(user, field)) return undefined
  if (!identifiers.isProvable(field) || identifiers.isProven(user, field)) return change
  const { set, unset = [], ...more } = identifiers.takeover(user, { field })
  const { password } = users.names
  return {
    ...more,
    set: { ...set, ...change.set },
    unset: unset.filter((gone) => gone !== password),
  }
}
