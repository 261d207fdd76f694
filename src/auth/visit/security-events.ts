/**
 * Security events (ASVS 5.0, 16.3): what happened to accounts, for logs and alarms.
 *
 * They contain no secret and no identifier in clear: the user is given by the account's id, if there is an account.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import { within } from '../../ports/within.ts'
import type { AuthInstance } from '../instance/instance.ts'
import type { SecurityEvent, SecurityEventType } from '../setup/security-event.ts'
import { visitOf } from './visit.ts'

/** When the server closes, it waits no longer than this for a hook. */
const DEADLINE_MS = 10_000

/** Reports an event. Never throws, and waits for nothing. */
export function report(
  auth: AuthInstance,
  request: ApiRequest,
  type: SecurityEventType,
  userId?: unknown,
  provider?: string,
): void {
  const { settings, host, now } = auth
  const { client, route, later } = visitOf(request)
  const event: SecurityEvent = {
    type,
    at: new Date(now()),
    ...(userId !== undefined && { userId: String(userId) }),
    ...(client !== undefined && { client }),
    requestId: request.requestId,
    route,
    ...(provider !== undefined && { provider }),
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
