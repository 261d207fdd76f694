/** A guess at a password: counted first, then evaluated, in the same time for every account. */

import type { ApiRequest } from '../../http/request.ts'
import type { Fields } from '../../ports/store.ts'
import type { Passwords } from '../keys/passwords.ts'
import { type Report, requestInfo } from '../request-info/request-info.ts'
import type { Users } from '../users/users.ts'
import type { Lockout, Reservation } from './lockout.ts'

/** The parts that a guess needs. */
export interface GuessParts {
  readonly users: Users
  readonly lockout: Lockout
  readonly passwords: Passwords
  readonly report: Report
}

/** The outcome of a guess. */
export type Guess =
  | { readonly isRight: true; readonly reservation: Reservation }
  /** `isLocked`: whether the account was already locked for this client. */
  | { readonly isRight: false; readonly isLocked: boolean }

/**
 * Evaluates a guess at the password of `user`, and reports a wrong one. Unknown, wrong, locked and social-only accounts
 * take the same steps: one write, one hash computation.
 */
export async function guessPassword(
  { users, lockout, passwords, report }: GuessParts,
  user: Fields | undefined,
  plain: string | null | undefined,
  request: ApiRequest,
): Promise<Guess> {
  const { client } = requestInfo(request)
  const reservation = await lockout.reserveGuess(user, client)
  const stored = reservation?.user[users.names.password]
  const canBeRight = typeof stored === 'string' && typeof plain === 'string'
  const isRight = await passwords.verify(plain ?? '', canBeRight ? stored : undefined)
  if (reservation && isRight) return { isRight, reservation }
  report(request, 'sign-in-failed', user?._id)
  if (reservation?.locks) report(request, 'locked', user?._id)
  // Nothing tells that password sign-in has ended: no wait ends that.
  const isEnded = user !== undefined && lockout.isEnded(user, client)
  return { isRight: false, isLocked: user !== undefined && !reservation && !isEnded }
}
