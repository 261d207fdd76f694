/**
 * What the auth routes know of a request besides the HTTP message: its route, its client, and what goes on after it; and
 * security events (ASVS 5.0, 16.3): what happened to accounts, for logs and alarms.
 *
 * Events contain no secret and no identifier in clear: the user is given by the account's id, if there is an account.
 */

import { HttpError } from '../http/errors/errors.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { atOnce } from '../ports/promises/synchronous.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import { idsOf, type Logger } from '../ports/services/logger.ts'
import { textOf } from '../ports/values/causes.ts'
import type { Context, Guard, Handler } from '../records/engine/route.ts'

export interface AuthRequestInfo {
  readonly request: ApiRequest
  readonly route: RouteName | MethodRouteName
  /** The client that sends it, by the `client` option; undefined if it is unknown. */
  readonly client: string | undefined
  /** What the app's own code gets beside the request. */
  readonly context: Context
}

const INFO: unique symbol = Symbol('auth request')

interface Noted extends ApiRequest {
  [INFO]?: Omit<AuthRequestInfo, 'request'>
}

/** Caches on the way must not store responses with tokens, nor refusals. */
export const neverStored: Guard = (_, { headers }) => {
  headers.set('Cache-Control', 'no-store')
}

/** The first guard of every route: does so too, and notes what is known of the request. */
export function noteRequest(option: ClientOption, route: RouteName | MethodRouteName): Guard {
  return (request, context) => {
    context.headers.set('Cache-Control', 'no-store')
    const client = clientOf(option, request, context)
    const noted: Noted = request
    noted[INFO] = { route, client, context }
  }
}

export function requestInfo(request: ApiRequest): AuthRequestInfo {
  const info = (request as Noted)[INFO]
  if (!info) throw new TypeError('a request must be passed on as the app gave it')
  return { ...info, request }
}

/** Does `work` with `auth` and what is known of each request. */
export function handlerOf<A>(
  auth: A,
  work: (auth: A & AuthRequestInfo) => Promise<Response>,
): Handler {
  return (request) => work({ ...auth, ...requestInfo(request) })
}

/** When the server closes, it waits no longer than this for a hook. */
const DEADLINE_MS = 10_000

interface Reporter extends AuthRequestInfo {
  /** Its logger, also where `logger` is another one for what is sent. */
  readonly host: { readonly logger: Logger }
  readonly users: { now(): number }
  readonly settings: { readonly onSecurityEvent: SecurityHook | undefined }
}

/** Reports an event. Never throws, and waits for nothing. */
export function report(
  { request, route, client, settings, users, host: { logger }, context }: Reporter,
  type: SecurityEventType,
  userId?: unknown,
  provider?: string,
): void {
  const event: SecurityEvent = {
    type,
    at: new Date(users.now()),
    ...(userId !== undefined && { userId: String(userId) }),
    ...(client !== undefined && { client }),
    requestId: request.requestId,
    route,
    ...(provider !== undefined && { provider }),
  }
  const { onSecurityEvent } = settings
  if (!onSecurityEvent) {
    logger.info(`auth: ${type}`, { ...event, ...idsOf(request) })
    return
  }
  const logFailure = (error: unknown) =>
    logger.error('onSecurityEvent failed', { ...idsOf(request), type, error: textOf(() => error) })
  try {
    const told: unknown = onSecurityEvent(event)
    if (!(told instanceof Promise)) return
    const late = () => new Error(`it did not settle within ${DEADLINE_MS} ms`)
    context.waitUntil(withTimeout(DEADLINE_MS, () => told, late).catch(logFailure))
  } catch (error) {
    logFailure(error)
  }
}

/** Returns a key for the client that sent a request; undefined if it is unknown. */
export type ClientOption = (request: ApiRequest, context: Context) => string | undefined

/** The address of the connection, if the context has it. */
export const byAddress: ClientOption = (_, context) => {
  const { clientAddress } = context as { readonly clientAddress?: unknown }
  return typeof clientAddress === 'string' ? networkOf(clientAddress) : undefined
}

/** An IPv4 address in IPv6, as sockets have it; in dots, or not. */
const MAPPED = /^(?:0*:)*ffff:(?:(\d+\.\d+\.\d+\.\d+)|(\w+):(\w+))$/

/** IPv6 customers have at least a /64 each (RFC 6177), so all its addresses are one client. */
export function networkOf(address: string): string {
  const [bare = ''] = address.toLowerCase().split('%')
  if (!bare.includes(':')) return bare
  const [, dotted, ...words] = MAPPED.exec(bare) ?? []
  if (dotted) return dotted
  const bytesIn = (word: number) => [word >> 8, word & 255]
  if (words[0]) return words.flatMap((word) => bytesIn(Number(`0x${word}`))).join('.')
  const halves = bare.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const [left = [], right = []] = halves
  const zeros = Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(.)/, '$1'))
  return `${network.join(':')}::/64`
}

const MAX_KEY_LENGTH = 256

/** The key that `option` returns, cut to a sensible length. */
export function clientOf(
  option: ClientOption,
  request: ApiRequest,
  context: Context,
): string | undefined {
  const given: unknown = option(request, context)
  const key =
    typeof given === 'object' && given !== null
      ? atOnce("'client' of the auth router", given, context.logger)
      : given
  return typeof key === 'string' && key !== '' ? key.slice(0, MAX_KEY_LENGTH) : undefined
}

/** What can happen. */
export type SecurityEventType =
  | 'signed-in'
  | 'sign-in-failed'
  | 'locked'
  | 'signed-up'
  | 'password-changed'
  | 'password-reset'
  | 'code-sent'
  | 'code-failed'
  | 'session-ended'
  | 'token-reused'
  | 'roles-changed'
  | 'identifier-changed'
  | 'email-verified'
  | 'provider-linked'
  | 'provider-unlinked'
  | 'account-deleted'
  | 'factor-added'
  | 'factor-removed'
  | 'passkey-cloned'
  | 'key-added'
  | 'key-removed'

/** Something that happened to an account, or was tried. */
export interface SecurityEvent {
  readonly type: SecurityEventType
  /** When it happened, by the app's clock. */
  readonly at: Date
  /** The account's `_id`; missing if no account was meant, or none exists. */
  readonly userId?: string
  /** The client that sent the request, by the `client` option. */
  readonly client?: string
  readonly requestId: string
  /** The provider's name, if one was linked or unlinked. */
  readonly provider?: string
  /** The route's name, as in `routes`. */
  readonly route: RouteName | MethodRouteName
}

/** Receives events; an error that it throws is logged, and changes nothing. */
export type SecurityHook = (event: SecurityEvent) => unknown

/**
 * The routes of accounts, and those of sessions (only with refresh tokens), of email verification and of account
 * deletion.
 */
export type RouteName =
  | 'register'
  | 'login'
  | 'social'
  | 'forgotPassword'
  | 'resetPassword'
  | 'changePassword'
  | 'refresh'
  | 'logout'
  | 'logoutAll'
  | 'listSessions'
  | 'endSession'
  | 'me'
  | 'listUsers'
  | 'getUser'
  | 'updateUser'
  | 'modifyRoles'
  | 'endUserSessions'
  | 'sendEmailCode'
  | 'verifyEmail'
  | 'deleteUser'

/** The routes of the methods that come with fieldgate; each is there with its method. */
export type MethodRouteName =
  | 'confirmLogin'
  | 'listKeys'
  | 'createKey'
  | 'deleteKey'
  | 'deleteUserKeys'
  | 'createTotp'
  | 'confirmTotp'
  | 'deleteTotp'
  | 'createRecoveryCodes'
  | 'sendLoginCode'
  | 'beginPasskey'
  | 'createPasskey'
  | 'listPasskeys'
  | 'renamePasskey'
  | 'deletePasskey'
  | 'beginPasskeyLogin'
  | 'passkeyLogin'
  | 'beginOidc'
  | 'finishOidc'
  | 'oidcLogin'
  | (string & {})

/** Who may call a route. */
export type Access = 'anyone' | 'signed in' | 'self or admin' | 'admin'

/** Throws what a hook has thrown; a 401 among it names the scheme, as every other here does (RFC 9110, 11.6.1). */
export function hookFailed(error: unknown): never {
  if (error instanceof HttpError && error.status === 401) {
    const own = Object.fromEntries(new Headers(error.headers))
    Object.assign(error, { headers: { 'www-authenticate': 'Bearer', ...own } })
  }
  throw error
}
