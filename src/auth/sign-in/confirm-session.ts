/**
 * The end of `POST /login/confirm`: one conditional write, which notes in the present session that its user has shown a
 * factor again, and clears the guesses.
 */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request.ts'
import { messageResponse, valueResponse } from '../../http/respond.ts'
import type { Fields } from '../../ports/store.ts'
import { holds } from '../../records/engine/known-updates.ts'
import { visitOf } from './factors.ts'
import type { ConditionalChange } from './lockout.ts'
import { type SignIn, type SignInParts, signInData, writeSignIn } from './open-session.ts'
import type { Session, Sessions } from './sessions.ts'

const MAX_TRIES = 6

/** The parts that a confirmation writes and reads. */
type Parts = SignInParts & { readonly sessions: Sessions }

/** The response; undefined if the session has ended, or what the sign-in relied on no longer holds. */
export async function confirmSession(
  parts: Parts,
  user: Fields,
  request: ApiRequest,
  signIn: SignIn,
): Promise<Response | undefined> {
  checkTime(request)
  const { users, refresh } = parts
  const unchanged = { ...users.passwordState(user), ...signIn.expect }
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_TRIES; tries += 1) {
    if (users.isDisabled(read) || !holds(read, unchanged)) return undefined
    const own = refresh?.live(read, request.auth?.claims?.sid as string | undefined)
    if (refresh && !own) return undefined
    const { change, expect } = confirmation(parts, read, own, signIn)
    const after = await writeSignIn(parts, user, change, { ...expect, ...unchanged })
    if (after) return confirmed(parts, after, own, request, signIn)
    read = await users.byId(user._id)
  }
  return undefined
}

/** What is written, and what must be as it was read. */
function confirmation(
  { users, sessions, lockout }: Parts,
  read: Fields,
  own: Session | undefined,
  { reservation, set, isStrong = false }: SignIn,
): ConditionalChange {
  const cleared = reservation && lockout.stepBack(reservation, 'clear', read)
  const at = new Date(users.now())
  const shown = { confirmedAt: at, ...(isStrong && { strongAt: at }) }
  const list = sessions.of(read).map((each) => (each === own ? { ...each, ...shown } : each))
  const { field } = sessions
  return {
    change: {
      set: { ...cleared?.change.set, ...set, ...(own && { [field]: list }) },
      ...(cleared?.change.unset && { unset: cleared.change.unset }),
    },
    expect: { ...cleared?.expect, ...(own && { [field]: read[field] }) },
  }
}

/** The response. Without sessions, it is the token that says when its user has signed in, and how. */
function confirmed(
  parts: Parts,
  user: Fields,
  own: Session | undefined,
  request: ApiRequest,
  { isStrong = false }: SignIn,
): Response {
  if (own) return messageResponse('Confirmed.')
  const strongAt = isStrong ? parts.users.now() : visitOf(parts, user, request)?.strongAt
  const { token, expiresIn } = signInData(parts, user, undefined, strongAt)
  return valueResponse({ token, expiresIn })
}
