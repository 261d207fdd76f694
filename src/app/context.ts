/** What belongs to one request: the context for guards, the headers that they set, and the response that is sent. */

import { Response as OwnResponse, UNDONE } from '#response'
import { Deadline } from '../http/deadline.ts'
import { causeOf } from '../http/errors/outages.ts'
import { type AuthOrNobody, takeAuth } from '../http/request/given-auth.ts'
import type { ApiRequest } from '../http/request/request.ts'
import { addVary, headerOf, isResponse, setHeader } from '../http/response/respond.ts'
import type { MaybePromise } from '../ports/promises/maybe-promise.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import { type Logger, loggerFor } from '../ports/services/logger.ts'
import type { Host } from '../records/engine/host.ts'
import type { RecordStore } from '../records/engine/record-store.ts'
import type { Context, ResponseHook } from '../records/engine/route.ts'
import { environment } from './options.ts'

/** A platform's handle on a request: Workers pass it as the third argument. */
export interface Platform {
  /** The client's address, if the runtime knows it. */
  readonly clientAddress?: string | undefined
  /** The path under which another server mounts the app, such as `/api`; it has no slash at its end. Default: none. */
  readonly basePath?: string
  /** If true, the request is refused with a 503, because its server has more requests than it can respond to in time. */
  readonly isRefused?: boolean
  /**
   * Finds out who makes the request; what it returns is `request.auth` before the first guard. Called once, unless the
   * request is for a health route. If it throws, the request fails and no guard runs.
   */
  readonly auth?: (() => AuthOrNobody | Promise<AuthOrNobody>) | undefined
  waitUntil?(promise: Promise<unknown>): void
}

export class AppContext extends Deadline implements Context {
  isAnswered = false
  /** What the request says of itself: some runtimes find it out anew each time that it is asked. */
  method = ''
  url = ''
  /** Its `Host`. */
  address: string | null = null
  /** Whether it is a POST that names another method. */
  isOverridden = false
  /** Whether it has credentials. */
  isAuthorized = false
  readonly platform: Platform | undefined
  readonly basePath: string
  /** The headers that guards have set. Created on first use: most requests set none. */
  ownHeaders: Headers | undefined
  /** What guards do with the response, the last one first. */
  hooks: ResponseHook[] | undefined
  readonly #host: Host
  readonly #env: unknown
  readonly #request: ApiRequest
  #store: RecordStore | undefined

  /** `limitMs` is the time limit of the request in milliseconds; 0 for none. */
  constructor(
    host: Host,
    request: ApiRequest,
    limitMs: number,
    env: unknown,
    platform: Platform | undefined,
  ) {
    super(request, limitMs)
    this.#host = host
    this.#env = env
    this.#request = request
    this.platform = platform
    // For `(request, { waitUntil }) => …`.
    this.onResponse = this.onResponse.bind(this)
    this.waitUntil = this.waitUntil.bind(this)
    const mount = platform?.basePath ?? ''
    this.basePath = host.basePath === '' ? mount : mount.replace(/\/$/, '') + host.basePath
  }

  get env(): Readonly<Record<string, unknown>> {
    return environment(this.#env) ?? this.#host.env
  }

  /** The app's logger, which adds the request's trace to each line. */
  get logger(): Logger {
    return loggerFor(this.#request, this.#host.logger)
  }

  get clientAddress(): string | undefined {
    return this.platform?.clientAddress
  }

  get store(): RecordStore {
    this.#store ??= this.#host.storeFor(this.#request)
    return this.#store
  }

  /** Sets `request.auth` to what the server that mounts the app has found out. */
  async takeAuth(): Promise<void> {
    const { auth } = this.platform ?? {}
    if (typeof auth === 'function') await takeAuth(this.#request, auth)
  }

  get headers(): Headers {
    this.ownHeaders ??= new Headers()
    return this.ownHeaders
  }

  /** The lifetime that a guard chose is that of what was asked for: an outage must not last as long for everyone. */
  forgetLifetime(): void {
    for (const [name, value] of [...(this.ownHeaders ?? [])]) {
      // CDNs have fields of their own (RFC 9213).
      const isLifetime = /cache-control$|^(?:expires|surrogate-control)$/.test(name)
      if (isLifetime && !/\bno-store\b/i.test(value)) this.ownHeaders?.delete(name)
    }
  }

  onResponse(hook: ResponseHook): void {
    this.hooks ??= []
    this.hooks.unshift(hook)
  }

  waitUntil(promise: Promise<unknown>): void {
    const { platform, logger } = this
    const settled = Promise.resolve(promise).catch((error: unknown) =>
      logger.error('background work failed', { error: causeOf(error) }),
    )
    // Keeps the runtime alive until it settles, if the platform can.
    if (typeof platform?.waitUntil === 'function') platform.waitUntil(settled)
  }
}

/** The response to send for `made`, after the hooks of guards. Throws a `TypeError` if it is not a response. */
export function finish(
  made: unknown,
  request: ApiRequest,
  context: AppContext,
  isLate = false,
): MaybePromise<Response> {
  if (!(made instanceof OwnResponse || isResponse(made))) {
    const what = Array.isArray(made) ? 'a list' : `a value of type ${typeof made}`
    throw new TypeError(
      `${request.method} ${request.route}: a guard, handler or onError returned ${what}. Return a Response, for example Response.json(value); guards may also return nothing, and handlers of routes JSON.`,
    )
  }
  // The headers of a HEAD are those of a GET, so hooks see what a GET would send.
  const isBare = context.method === 'HEAD' && !context.hooks
  // Asked for more than they have at hand, responses of fieldgate and of srvx become standard ones, which are slow.
  const given = LAZY in made ? made : decoded(made)
  const own = isBare ? bare(given) : given
  if (!(LAZY in own) && own.bodyUsed) {
    throw new TypeError('the body of this Response has been read already')
  }
  if (!context.hooks) return complete(own, request, context)
  return runHooks(context.hooks, own, isLate, context.logger).then((hooked) =>
    complete(context.method === 'HEAD' ? bare(hooked) : hooked, request, context),
  )
}

/** How long your code may take for the response of a request whose time is over, in milliseconds. */
const LATE_MS = 1000

/** The result of `work`, which must be there soon if the time of its request is over. */
export function lastWords<T>(isLate: boolean, work: () => MaybePromise<T>): MaybePromise<T> {
  if (!isLate) return work()
  const late = () => new Error(`it took longer than ${LATE_MS} ms`)
  return withTimeout(LATE_MS, async () => work(), late)
}

/** The response that the hooks of guards leave. A hook that fails changes nothing. */
export async function runHooks(
  hooks: readonly ResponseHook[],
  made: Response,
  isLate: boolean,
  logger: Logger,
): Promise<Response> {
  let response = made
  for (const hook of hooks) {
    try {
      const before = response
      response = (await lastWords(isLate, () => hook(before, isLate))) ?? before
    } catch (error) {
      logger.error('a response hook failed', { error: causeOf(error) })
    }
  }
  return response
}

function complete(response: Response, request: ApiRequest, context: AppContext): Response {
  try {
    return withHeaders(response, request, context)
  } catch {
    // A response from `fetch` or `Response.redirect` has headers that cannot be changed.
    return withHeaders(new Response(response.body, response), request, context)
  }
}

/** The methods whose responses caches may keep without being told. */
const KEPT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

/** Adds the request's id, the headers that guards have set, and `Cache-Control` unless it is set already. */
function withHeaders(response: Response, request: ApiRequest, context: AppContext): Response {
  const { isAuthorized } = context
  if (context.ownHeaders) addHeaders(response, context.ownHeaders)
  setHeader(response, 'X-Request-Id', request.requestId)
  // No cache in front of the app runs its guards. It may choose a lifetime without the header (RFC 9111, 4.2.2).
  const isPrivate = isAuthorized || Boolean(request.auth)
  const shared = response.status < 400 ? 'no-cache' : 'no-store'
  const rule = isPrivate ? 'private, no-store' : shared
  const isStated = isPrivate || KEPT.has(context.method)
  const given = isStated ? headerOf(response, 'Cache-Control') : 'no-store'
  if (given === null) setHeader(response, 'Cache-Control', rule)
  // A cache that may keep what an anonymous client got must not give it to a user. What is immutable is the same for all.
  const isKept = given !== null && !/\b(?:no-store|no-cache|immutable)\b/i.test(given)
  if (isAuthorized || isKept) addVary(response, 'Authorization')
  return response
}

function addHeaders(response: Response, more: Headers): void {
  for (const [name, value] of more) {
    if (headerOf(response, name) === null) setHeader(response, name, value)
    else response.headers.append(name, value)
  }
}

/** What responses of fieldgate and of srvx have on Node. */
const LAZY = '_toNodeResponse'

/** `made`, whose headers say how its body was encoded, and how long it was then, even if `fetch` has decoded it. */
function decoded(made: Response): Response {
  const coding = made.url === '' ? null : made.headers.get('content-encoding')
  if (!coding?.split(',').every((each) => UNDONE.test(each.trim()))) return made
  const copy = new Response(made.body, made)
  for (const name of ['content-encoding', 'content-length']) copy.headers.delete(name)
  return copy
}

/** `response` without its body, whose source need not go on. */
function bare(response: Response): Response {
  // Reading `body` of a fast response would make a stream of it.
  if (!('plainHeaders' in response)) void response.body?.cancel().catch(() => {})
  return new Response(null, response)
}
