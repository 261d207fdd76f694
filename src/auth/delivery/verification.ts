/**
 * Proving a mailbox by a code, before or after it is the account's address: `emailVerification`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Change, Fields } from '../../ports/store.ts'
import {
  addressToVerify,
  hasProof,
  isProven,
  type OwnVisit,
  proofOf,
  takeover,
} from '../accounts/ways-in.ts'
import { codesEnded, type RightCode } from '../codes.ts'
import type { Realm } from '../instance/instance.ts'
import { sendNewCode } from './code-requests.ts'

/** Sends a code to the address that the account has yet to prove; whether there is one. Failures are logged. */
export function sendVerification(
  realm: Realm,
  account: Fields,
  request: ApiRequest,
): Promise<boolean> {
  const address = (user: Fields) => addressToVerify(realm, user)
  return sendNewCode(realm, account, 'verification', address, request)
}

/** Whether the account may not sign in yet: its mailbox has to be proven first. */
export function awaitsProof(realm: Realm, user: Fields): boolean {
  const { names, settings } = realm
  const email = user[names.email]
  if (!settings.emailVerification.required || typeof email !== 'string') return false
  return !isProven(realm, user, names.email)
}

/**
 * What a right code changes. Undefined where it may prove nothing: on an account with a proven identifier only its own
 * user adds another, as a code in the wrong hands would give the account away.
 */
export function verificationChange(
  realm: Realm,
  { user }: RightCode,
  signedIn: OwnVisit | undefined,
): Change | undefined {
  const { names, settings } = realm
  const { email: field } = names
  const address = addressToVerify(realm, user)
  const isNew = address !== user[field]
  if (address === undefined || (!signedIn && (isNew || hasProof(realm, user)))) return undefined
  const proven = { ...user, [field]: address }
  if (!hasProof(realm, user)) {
    const change = takeover(realm, proven, { field, ...(signedIn && { signedIn }) })
    return { ...change, set: { ...change.set, [field]: address } }
  }
  const pending = [names.pendingEmail].filter((name) => settings.model.shape.fields.has(name))
  return {
    set: { [field]: address, ...proofOf(realm, proven, field) },
    unset: [...codesEnded(realm), ...pending],
  }
}
