/**
 * Sign-ins that need no password: what may refuse the account, a second step, and the session.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance.ts'
import { emailNotConfirmed, invalidCredentials, notActive } from '../refusals.ts'
import { requestInfo } from '../request-info/request-info.ts'
import type { MethodSignIn } from '../setup/method.ts'
import { askedStep, runOnLogin } from '../sign-in/second-step.ts'
import { eraOf, respondSignedIn } from './login.ts'

/** Signs `user` in by a method, which has checked who they are. */
export async function signInBy(
  auth: AuthInstance,
  user: Fields,
  request: ApiRequest,
  { isStrong = false, expect = {}, own }: MethodSignIn = {},
): Promise<Response> {
  if (own !== undefined && own !== String(user._id)) throw invalidCredentials()
  await checkAccount(auth, user)
  // A lock holds for every method, or the right guess at another one would get around it.
  if (auth.lockout.isLocked(user, requestInfo(request).client)) throw invalidCredentials()
  const step = await runOnLogin(auth, user, request)
  const asked = askedStep(step, isStrong ? undefined : await auth.factors?.asked(user))
  if (asked) return auth.tickets.ask(user, asked, request)
  return respondSignedIn(
    auth,
    user,
    request,
    { expect: { ...expect, ...eraOf(auth, user) }, isStrong, own },
    invalidCredentials,
  )
}

/** Throws the refusal of an account that may not sign in, or not yet. */
export async function checkAccount(
  { users, identifiers, sessions }: AuthInstance,
  user: Fields,
): Promise<void> {
  if (users.isDisabled(user)) {
    await sessions.endThoseOfDisabled(user)
    throw notActive()
  }
  if (identifiers.awaitsProof(user)) throw emailNotConfirmed()
}
