/**
 * What the auth routes know of a request besides the HTTP message: its route, its client, and what goes on after it; and
 * security events (ASVS 5.0, 16.3): what happened to accounts, for logs and alarms.
 *
 * Events contain no secret and no identifier in clear: the user is given by the account's id, if there is an account.
 */

import { type ApiRequest, RequestData } from '../../http/request.ts'
import { idsOf } from '../../http/request-ids.ts'
import type { Logger } from '../../ports/logger.ts'
import { withTimeout } from '../../ports/with-timeout.ts'
import type { Guard } from '../../records/engine/route.ts'
import { type ClientOption, clientOf } from '../setup/client.ts'
import type { MethodRouteName, RouteName } from '../setup/route-names.ts'
import type { SecurityEvent, SecurityEventType, SecurityHook } from '../setup/security-event.ts'

/** A request at an auth route. */
export interface AuthRequestInfo {
  readonly route: RouteName | MethodRouteName
  /** The client that sends it, by the `client` option; undefined if it is unknown. */
  readonly client: string | undefined
  /** Keeps the runtime alive until `work` settles. */
  later(work: Promise<unknown>): void
}

const notes = new RequestData<AuthRequestInfo>('auth request')

/** The first guard of every route: notes what is known of the request. */
export function noteRequest(option: ClientOption, route: RouteName | MethodRouteName): Guard {
  return (request, context) => {
    const client = clientOf(option, request, context)
    notes.set(request, { route, client, later: (work) => context.waitUntil(work) })
  }
}

/** What is known of a request at an auth route. */
export function requestInfo(request: ApiRequest): AuthRequestInfo {
  const info = notes.of(request)
  if (!info) throw new TypeError('a request must be passed on as the app gave it')
  return info
}

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
