/**
 * Proves a mailbox by a code, before or after it becomes the account's address: `emailVerification`.
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
import type { AuthInstance } from '../instance/instance.ts'
import { sendNewCode } from './code-requests.ts'

/** Sends a code to the address that the account has yet to prove; returns whether there is one. Failures are logged. */
export function sendVerification(
  auth: AuthInstance,
  account: Fields,
  request: ApiRequest,
): Promise<boolean> {
  const address = (user: Fields) => addressToVerify(auth, user)
  return sendNewCode(auth, account, 'verification', address, request)
}

/** Whether the account may not sign in yet, because its mailbox has to be proven first. */
export function awaitsProof(auth: AuthInstance, user: Fields): boolean {
  const { names, settings } = auth
  const email = user[names.email]
  if (!settings.emailVerification.required || typeof email !== 'string') return false
  return !isProven(auth, user, names.email)
}

/**
 * What a right code changes. Undefined if it may prove nothing: on an account with a proven identifier only its own
 * user can add another, because a code in the wrong hands would give the account away.
 */
export function verificationChange(
  auth: AuthInstance,
  { user }: RightCode,
  signedIn: OwnVisit | undefined,
): Change | undefined {
  const { names, settings } = auth
  const { email: field } = names
  const address = addressToVerify(auth, user)
  const isNew = address !== user[field]
  if (address === undefined || (!signedIn && (isNew || hasProof(auth, user)))) return undefined
  const proven = { ...user, [field]: address }
  if (!hasProof(auth, user)) {
    const change = takeover(auth, proven, { field, ...(signedIn && { signedIn }) })
    return { ...change, set: { ...change.set, [field]: address } }
  }
  const pending = [names.pendingEmail].filter((name) => settings.model.shape.fields.has(name))
  return {
    set: { [field]: address, ...proofOf(auth, proven, field) },
    unset: [...codesEnded(auth), ...pending],
  }
}
