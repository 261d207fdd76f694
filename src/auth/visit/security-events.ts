/**
 * Security events (ASVS 5.0, 16.3): what happened to accounts, for logs and alarms.
 *
 * They carry no secret and no identifier in clear: who it was is the account's id, where there is an account.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { within } from '../../ports/within.ts'
import type { Realm } from '../instance/instance.ts'
import type { RouteName } from '../setup/options.ts'
import { visitOf } from './visit.ts'

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
  | 'account-deleted'

/** Something that happened to an account, or was tried. */
export interface SecurityEvent {
  readonly type: SecurityEventType
  readonly at: Date
  /** The account's `_id`; absent where no account was meant, or none is there. */
  readonly userId?: string
  /** Who sent the request, by the `client` option. */
  readonly client?: string
  readonly requestId: string
  /** The route's name, as in `routes`. */
  readonly route: RouteName
}

/** Takes events; what it throws is logged, and changes nothing. */
export type SecurityHook = (event: SecurityEvent) => unknown

/** A hook that takes longer is no longer waited for when the server closes. */
const DEADLINE_MS = 10_000

/** Tells of an event. Never throws, and waits for nothing. */
export function report(
  realm: Realm,
  request: ApiRequest,
  type: SecurityEventType,
  userId?: unknown,
): void {
  const { settings, host, now } = realm
  const { client, route, later } = visitOf(request)
  const event: SecurityEvent = {
    type,
    at: new Date(now()),
    ...(userId !== undefined && { userId: String(userId) }),
    ...(client !== undefined && { client }),
    requestId: request.requestId,
    route,
  }
  const log = () => host.logger.info(`auth: ${type}`, { ...event, ...idsOf(request) })
  const { onSecurityEvent = log } = settings
  const failed = (error: unknown) =>
    host.logger.error('onSecurityEvent failed', {
      ...idsOf(request),
      type,
      error: String(error),
    })
  try {
    const told: unknown = onSecurityEvent(event)
    if (told instanceof Promise) later(within(DEADLINE_MS, () => told, late).catch(failed))
  } catch (error) {
    failed(error)
  }
}

function late(): Error {
  return new Error(`it did not settle within ${DEADLINE_MS} ms`)
}
