/** What a guard, hook or handler receives. */

import type { Logger } from '../../ports/services/logger.ts'
import type { Fields } from '../../ports/store/records.ts'

/** Who makes a request, as `requireAuth` or your own guard found out. */
export interface AuthContext {
  /** The user's `_id`. */
  readonly userId: string
  /** The user's role or roles. */
  readonly role?: string | readonly string[]
  /** The claims of the access token. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/** The standard Request, plus what routing and guards have added to it. */
export interface ApiRequest extends Request {
  /** The path's parameters, decoded. */
  params: Readonly<Record<string, string>>
  /** The pattern of the route that matched, mount path included, e.g. `/cities/:id`; empty until one has matched. */
  route: string
  /** The query string's parameters. */
  query: Query
  /** Identifies the request in logs and in failures. */
  requestId: string
  /** The id of the trace that the request's span belongs to; set by telemetry. */
  traceId?: string
  /** Set by `requireAuth`, or by any guard. */
  auth?: AuthContext
  /** The signed-in user's record; set by `requireAuth`. */
  user?: Fields
}

/** What belongs to a request but is not part of the HTTP message. */
export interface RequestContext {
  /** The runtime's environment: bindings on Workers, variables elsewhere. */
  readonly env: Readonly<Record<string, unknown>>
  /** The app's logger; it adds the request's trace to each line. */
  readonly logger: Logger
  /**
   * The client's address: the other end of the connection, or what trusted proxies report
   * (`serve(app, { trustProxy })`); `CF-Connecting-IP` on Workers. Undefined if the runtime did not tell, e.g. if a
   * server calls `app.handle` itself.
   */
  readonly clientAddress: string | undefined
  /**
   * The path under which another server mounts the app, such as `/api` in Express; empty if none does. `request.url`
   * is without it, and paths in responses are with it.
   */
  readonly basePath: string
  /**
   * Aborts when the request takes longer than `requestTimeoutMs`, or when the client goes away, if the runtime reports
   * that. Same as `request.signal`. Pass it to what you wait for: `fetch(url, { signal: context.signal })`.
   */
  readonly signal: AbortSignal
  /** Headers to add to the response, success or failure. */
  readonly headers: Headers
  /** Keeps the runtime alive until `promise` settles. */
  waitUntil(promise: Promise<unknown>): void
}

/** The header with which clients send a QUERY as a POST, through proxies that know no QUERY. */
export const METHOD_OVERRIDE = 'x-http-method-override'

const bases = new WeakMap<ApiRequest, string>()

/** Notes by which path `request` has come to the app. */
export function noteBasePath(request: ApiRequest, basePath = ''): void {
  const base = basePath.replace(/\/$/, '')
  if (base !== '') bases.set(request, base)
}

/** The path under which another server mounts the app; empty if none does. */
export function basePathOf(request: ApiRequest): string {
  return bases.get(request) ?? ''
}

/** Takes off which codings the client accepts, where it would get contents without the name of their coding. */
export function acceptNoCoding(request: ApiRequest): void {
  const headers = new Headers(request.headers)
  headers.delete('accept-encoding')
  Object.defineProperty(request, 'headers', { value: headers, configurable: true })
}

/** A value of a request, kept in it under a symbol: in a weak map, each would cost the garbage collector some 10 µs. */
export class RequestData<T> {
  readonly #key: symbol

  constructor(description: string) {
    this.#key = Symbol(description)
  }

  of(request: object): T | undefined {
    return Reflect.get(request, this.#key)
  }

  set(request: Request, value: T): void {
    Reflect.set(request, this.#key, value)
  }
}

/** A request's parameters: a string each, or a list of strings if a name is repeated. */
export type Query = Readonly<Record<string, string | string[]>>

export const noQuery: Query = Object.freeze(Object.create(null))

/** Parses a URL's parameters as `application/x-www-form-urlencoded`; brackets stay in the names. */
export function parseQuery(url: string): Query {
  const start = url.indexOf('?')
  if (start === -1) return noQuery
  const end = url.indexOf('#', start)
  // Clients choose the names, so the object has no prototype that a name could collide with.
  const query: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(
    url.slice(start + 1, end === -1 ? undefined : end),
  )) {
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}
