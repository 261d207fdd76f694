/**
 * Sign-ins that need no password: what may refuse the account, a second step, and the session.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { tell } from '../delivery/notices.ts'
import type { AuthInstance } from '../instance.ts'
import { emailNotConfirmed, invalidCredentials, notActive } from '../refusals.ts'
import { requestInfo } from '../request-info/request-info.ts'
import type { MethodSignIn } from '../setup/method.ts'
import { confirmSession } from '../sign-in/confirm-session.ts'
import { openSession, type SignIn } from '../sign-in/open-session.ts'
import { askedStep, runOnLogin } from '../sign-in/second-step.ts'

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
  const asked = askedStep(step, isStrong ? [] : await auth.factors.asked(user))
  if (asked) return auth.tickets.ask(user, asked, request)
  return respondSignedIn(
    auth,
    user,
    request,
    { expect: { ...expect, ...eraOf(auth, user) }, isStrong, own },
    invalidCredentials,
  )
}

/** A takeover meanwhile ends the factors that a sign-in went by; one that was made signed in changes no password. */
export function eraOf({ users, methods }: AuthInstance, user: Fields): Fields {
  const { takeovers } = users.names
  return methods.length > 0 ? { [takeovers]: user[takeovers] } : {}
}

/** How a sign-in ends. */
interface Ending extends SignIn {
  /** Set if it confirms the present session, instead of opening one. */
  readonly own?: string | undefined
  /** Further members of `data`. */
  readonly more?: Fields | undefined
}

/** Opens the session and responds, or confirms the present one. The owner is told of a client that the account didn't know. */
export async function respondSignedIn(
  auth: AuthInstance,
  user: Fields,
  request: ApiRequest,
  { own, more, ...signIn }: Ending,
  changed: () => Error,
): Promise<Response> {
  if (own !== undefined) {
    const confirmed = await confirmSession(auth, user, request, signIn)
    if (!confirmed) throw changed()
    return confirmed
  }
  const signedIn = await openSession(auth, user, request, signIn)
  if (!signedIn) throw changed()
  auth.report(request, 'signed-in', user._id)
  if (signedIn.isNewClient) tell(auth, user, 'newClient', request)
  return valueResponse({ ...signedIn.data, ...more })
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
