/**
 * What a guard, hook or handler receives.
 *
 * @module
 */

import type { Logger } from '../ports/logger.ts'
import type { Fields } from '../ports/store.ts'
import type { Query } from './query-string.ts'

/** Who makes a request, as `requireAuth` or a guard of the deployer's found out. */
export interface AuthContext {
  readonly userId: string
  readonly role?: string | readonly string[]
  readonly claims?: Readonly<Record<string, unknown>>
}

/** The standard Request, and what routing and guards have added to it. */
export interface ApiRequest extends Request {
  /** The path's parameters, decoded. */
  params: Readonly<Record<string, string>>
  /** The pattern of the route that matched, mount included, as `/cities/:id`; empty while none has. */
  route: string
  /** The query string's parameters. */
  query: Query
  /** Identifies the request in logs and in failures. */
  requestId: string
  /** The trace of the request's span, set by telemetry. */
  traceId?: string
  /** Set by `requireAuth`, or by any guard. */
  auth?: AuthContext
  /** The signed-in user's record, set by `requireAuth`. */
  user?: Fields
}

/** What belongs to a request but not to its message. */
export interface RequestContext {
  /** The runtime's environment: bindings on Workers, variables elsewhere. */
  readonly env: Readonly<Record<string, unknown>>
  readonly logger: Logger
  /**
   * The client's address: of the connection's other end, or the one that trusted proxies name (`serve(app, { trustProxy
   * })`); `CF-Connecting-IP` on Workers. Undefined where the runtime did not tell, as when a server calls `app.handle` itself.
   */
  readonly clientAddress: string | undefined
  /**
   * Aborts when the request has taken longer than `requestTimeoutMs`, or its client has gone away where the runtime tells.
   * `request.signal` is the same. Hand it to what you wait for, as in `fetch(url, { signal: context.signal })`.
   */
  readonly signal: AbortSignal
  /** Added to the response, whatever it is. */
  readonly headers: Headers
  /** Keeps the runtime alive until `promise` settles. */
  waitUntil(promise: Promise<unknown>): void
}
