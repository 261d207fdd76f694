/**
 * `POST /password/reset`.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { messageResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { RESET_CODES } from '../code-slots.ts'
import { codeState, type RightCode, tryCode } from '../codes.ts'
import { accountFinder, credential, readBody } from '../credentials.ts'
import { reserveNothing } from '../lockout.ts'
import { canReset } from '../model-checks.ts'
import { passwordChange, writePassword } from '../password-change.ts'
import { newPassword } from '../passwords.ts'
import { proofOf, type Realm } from '../realm.ts'
import { identifierRequired, invalidCode } from '../refusals.ts'

/** Sets a new password by a one-time code. */
export async function resetPassword(realm: Realm, request: ApiRequest): Promise<Response> {
  const { settings, passwords } = realm
  const body = await readBody(realm, request)
  const find = accountFinder(realm, body)
  const code = credential(body, 'code')
  const plain = newPassword(
    credential(body, 'newPassword'),
    'newPassword',
    settings.password.minLength,
  )
  if (!find) throw identifierRequired()
  if (!canReset(settings)) throw invalidCode()
  return realm.hashing.admit(async () => {
    const user = await find()
    // Same time for unknown accounts: a wrong code of a known one writes its count.
    if (!user) await reserveNothing(realm)
    const right = user && (await tryCode(realm, user, code, RESET_CODES))
    if (!right) throw invalidCode()
    const hash = await passwords.hash(plain)
    const change = passwordChange(realm, right.user, hash, proof(realm, right))
    // The code is used up by the same step, so that of two right ones in parallel one is too late.
    const written = await writePassword(realm, right.user, change, codeState(realm, right))
    if (!written) throw invalidCode()
    return messageResponse('Password reset. Sign in with your new password.')
  })
}

/** A code that was mailed and used proves the mailbox. */
function proof(realm: Realm, { kind, user }: RightCode): Fields {
  return kind === 'email' ? proofOf(realm, user[realm.settings.delivery.toField.email]) : {}
}
