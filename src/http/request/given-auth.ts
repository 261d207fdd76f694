/** Who makes a request, as the server that the app is mounted in has found out, e.g. by a session of Express. */

import { type ApiRequest, type AuthContext, RequestData } from './request.ts'

/** The caller of a request; a falsy value such as undefined or `false` for an anonymous one. */
export type AuthOrNobody = AuthContext | false | '' | 0 | null | undefined

const given = new RequestData<AuthContext>('given auth')

/**
 * Sets `request.auth` to what `find` returns. Throws what `find` throws, and a `TypeError` if it returns anything but an
 * `AuthContext` or nobody: a scope by an owner that is undefined must not come of it.
 */
export async function takeAuth(
  request: ApiRequest,
  find: () => AuthOrNobody | Promise<AuthOrNobody>,
): Promise<void> {
  const found = await find()
  if (!found) return
  const auth = checkAuth(found)
  given.set(request, auth)
  request.auth = auth
}

/** Sets `request.auth` of `request`, a part of `whole`, to what was given for `whole`; not to what its guards have set. */
export function shareAuth(whole: object, request: ApiRequest): void {
  const auth = given.of(whole)
  if (!auth) return
  given.set(request, auth)
  request.auth = auth
}

/** When the request began that another one repeats, in epoch milliseconds: a token need not be valid for longer. */
export const begun: RequestData<number> = new RequestData<number>('begun')

/** For how long it is known what a caller may do, in milliseconds. */
export const GOOD_MS = 1000

/** What asks once more whether the caller of a request may make it, should its body be long in coming. */
export const standing: RequestData<() => Promise<void>> = new RequestData<() => Promise<void>>(
  'standing',
)

const acting = new RequestData<true>('acting')

/** Makes `request`, which the app itself has made, one of the user whom `auth` names. It has no token. */
export function actFor(request: ApiRequest, auth: AuthContext): void {
  request.auth = checkAuth(auth)
  acting.set(request, true)
}

/** Whom the app acts for; undefined for a request of a client. */
export function actingFor(request: ApiRequest): AuthContext | undefined {
  return acting.of(request) && request.auth
}

/** A frozen copy: what was found is often a user's record, with much more in it. */
function checkAuth(found: unknown): AuthContext {
  const { userId, role, claims } = found as Readonly<Record<string, unknown>>
  if (typeof userId !== 'string' || userId === '') {
    throw refusal(`'userId' must be a string, but is ${kindOf(userId)}`)
  }
  if (!isRole(role)) throw refusal(`'role' must be a string or a list, but is ${kindOf(role)}`)
  if (claims !== undefined && (typeof claims !== 'object' || claims === null)) {
    throw refusal(`'claims' must be an object, but is ${kindOf(claims)}`)
  }
  return Object.freeze({
    userId,
    ...(role !== undefined && { role: Array.isArray(role) ? Object.freeze([...role]) : role }),
    ...(claims !== undefined && { claims: Object.freeze({ ...claims }) }),
  })
}

function isRole(value: unknown): value is AuthContext['role'] {
  const isText = (one: unknown) => typeof one === 'string'
  return value === undefined || isText(value) || (Array.isArray(value) && value.every(isText))
}

function refusal(problem: string): TypeError {
  return new TypeError(
    `auth: ${problem}. Return { userId: String(user._id), role: user.role }, or undefined if nobody is signed in`,
  )
}

function kindOf(value: unknown): string {
  if (value === '') return 'empty'
  return value === null || value === undefined ? String(value) : typeof value
}
