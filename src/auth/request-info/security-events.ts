/**
 * Security events (ASVS 5.0, 16.3): what happened to accounts, for logs and alarms.
 *
 * They contain no secret and no identifier in clear: the user is given by the account's id, if there is an account.
 *
 * @module
 */

import type { ApiRequest } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import type { Logger } from '../../ports/logger.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import type { SecurityEvent, SecurityEventType, SecurityHook } from '../setup/security-event.ts'
import { requestInfo } from './request-info.ts'

/** When the server closes, it waits no longer than this for a hook. */
const DEADLINE_MS = 10_000

/** Reports an event. Never throws, and waits for nothing. */
export type Report = (
  request: ApiRequest,
  type: SecurityEventType,
  userId?: unknown,
  provider?: string,
) => void

/** Reports to `hook`, or to the log. */
export function createReport(
  hook: SecurityHook | undefined,
  logger: Logger,
  now: () => number,
): Report {
  return (request, type, userId, provider) => {
    const { client, route, later } = requestInfo(request)
    const event: SecurityEvent = {
      type,
      at: new Date(now()),
      ...(userId !== undefined && { userId: String(userId) }),
      ...(client !== undefined && { client }),
      requestId: request.requestId,
      route,
      ...(provider !== undefined && { provider }),
    }
    if (!hook) return logger.info(`auth: ${type}`, { ...event, ...idsOf(request) })
    const logFailure = (error: unknown) => {
      const told = { ...idsOf(request), type, error: String(error) }
      logger.error('onSecurityEvent failed', told)
    }
    try {
      const told: unknown = hook(event)
      if (told instanceof Promise)
        later(withTimeout(DEADLINE_MS, () => told, late).catch(logFailure))
    } catch (error) {
      logFailure(error)
    }
  }
}

function late(): Error {
  return new Error(`it did not settle within ${DEADLINE_MS} ms`)
}
