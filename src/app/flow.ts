/** The way of a request through the app, from top to bottom: from its id to the response that is sent. */

import { Response as OwnResponse, sendsCodings } from '#response'
import { isCurrent } from '../cache/conditional.ts'
import { limitBody } from '../http/body/limited-body.ts'
import { failureOf } from '../http/deadline.ts'
import { causeOf, unavailable } from '../http/errors/outages.ts'
import { checkHost } from '../http/host.ts'
import {
  type ApiRequest,
  acceptNoCoding,
  METHOD_OVERRIDE,
  noQuery,
  noteBasePath,
  parseQuery,
} from '../http/request/request.ts'
import { lowerShield, resetQuery, SHIELD } from '../http/request/shield.ts'
import { type ErrorHandler, errorHandler } from '../http/response/error-handler.ts'
import type { MaybePromise } from '../ports/promises/maybe-promise.ts'
import type { Guard } from '../records/engine/route.ts'
import { serveFile } from '../uploads/serve.ts'
import { AppContext, finish, lastWords, type Platform } from './context.ts'
import type { AppHost } from './create-host.ts'
import { firstResponse, type GuardLists, serveGuarded } from './guards.ts'
import { respondElse, takeQuerySentAsPost } from './methods.ts'
import { observe } from './observers.ts'
import type { ResolvedAppOptions } from './options.ts'
import { enter, type RouteTable, type Row, routedPath } from './route-table.ts'

/** The guards of an app by when they run, the early ones before anything else. */
export type AppGuards = GuardLists & { readonly early: Guard[] }

export interface Parts {
  readonly host: AppHost
  readonly guards: AppGuards
  readonly table: RouteTable
  /** The routes that respond even before start-up. */
  readonly early: RouteTable
  readonly onError: ErrorHandler
}

const OVERLOADED = new Error('there are more requests than can be handled in time')
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export class Flow {
  readonly #parts: Parts
  readonly #limits: RequestLimits
  readonly #limitMs: number
  #validHost: string | null = null

  constructor(parts: Parts, options: Pick<ResolvedAppOptions, 'maxInFlight' | 'requestTimeoutMs'>) {
    this.#parts = parts
    this.#limits = new RequestLimits(options.maxInFlight)
    this.#limitMs = options.requestTimeoutMs
  }

  /** Responds to a request; never rejects. */
  readonly handle = (raw: Request, env?: unknown, platform?: Platform): Promise<Response> => {
    const { host } = this.#parts
    // A guard of another app may pass its request on.
    const raiseAgain = SHIELD in raw ? lowerShield(raw) : undefined
    const request = raw as ApiRequest
    const context = this.#contextOf(request, env, platform)
    if (context.basePath !== '') noteBasePath(request, context.basePath)
    const response =
      host.observers.length === 0
        ? this.#begin(request, context)
        : observe(host.observers, request, () => this.#begin(request, context))
    return raiseAgain ? response.finally(raiseAgain) : response
  }

  /** Begins a request. All that it says of itself is asked at once, and only here. */
  #contextOf(request: ApiRequest, env: unknown, platform: Platform | undefined): AppContext {
    const { host } = this.#parts
    if (!sendsCodings) acceptNoCoding(request)
    const { method, url, headers } = request
    const given = headers.get('x-request-id')
    const address = headers.get('host')
    const isOverridden = method === 'POST' && headers.has(METHOD_OVERRIDE)
    const isAuthorized = headers.has('authorization')
    const query = url.includes('?') ? parseQuery(url) : noQuery
    request.requestId = given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID()
    if (SHIELD in request) resetQuery(request, query)
    else request.query = query
    request.params = {}
    request.route = ''
    // GET and HEAD have no body, and most requests are one of them.
    if (method !== 'GET' && method !== 'HEAD') limitBody(request, host)
    const context = new AppContext(host, request, this.#limitMs, env, platform)
    return Object.assign(context, { method, url, address, isOverridden, isAuthorized })
  }

  /** Runs the early guards before anything else. */
  #begin(request: ApiRequest, context: AppContext): Promise<Response> {
    const isGuarded = this.#parts.guards.early.length > 0
    return isGuarded ? this.#guardedEarly(request, context) : this.#inTime(request, context)
  }

  async #guardedEarly(request: ApiRequest, context: AppContext): Promise<Response> {
    try {
      const response = await firstResponse(this.#parts.guards.early, request, context)
      if (response !== undefined) return await finish(response, request, context)
    } catch (error) {
      return this.#failed(error, request, context)
    }
    return this.#inTime(request, context)
  }

  /** Responds, or refuses if there are too many requests or this one takes too long. */
  #inTime(request: ApiRequest, context: AppContext): Promise<Response> {
    const limits = this.#limits
    const isTooMany = context.platform?.isRefused || (limits.isFull && !limits.hasRoom())
    if (isTooMany && !this.#parts.early.serves(routedPath(request))) {
      return this.#failed(unavailable(OVERLOADED), request, context)
    }
    const response = this.#respond(request, context)
    // A response that is there is in time.
    if (context.isAnswered) return response
    return limits.inTime(response, context, (reason) =>
      this.#failed(unavailable(reason), request, context, true),
    )
  }

  /**
   * Responds, or turns a failure into its response. Only what is not there yet is waited for: if that is nothing, the
   * response is there when this returns, as `context.isAnswered` says.
   */
  async #respond(request: ApiRequest, context: AppContext): Promise<Response> {
    let response: Response
    try {
      const { address } = context
      // Most requests of a server name the same host.
      if (address !== this.#validHost) this.#validHost = checkHost(address)
      const made = this.#route(request, context)
      const sent = finish(made instanceof OwnResponse ? made : await made, request, context)
      response = sent instanceof OwnResponse ? sent : await sent
    } catch (error) {
      response = await this.#failed(failureOf(error), request, context)
    }
    context.isAnswered = true
    return response
  }

  /** The response to a failure. Your own error handler may fail too; the client still gets the envelope. */
  async #failed(
    error: unknown,
    request: ApiRequest,
    context: AppContext,
    isLate = false,
  ): Promise<Response> {
    const { onError } = this.#parts
    context.forgetLifetime()
    try {
      const made = await lastWords(isLate, () => onError(error, request, context))
      return await finish(made, request, context, isLate)
    } catch (second) {
      // Of a request whose time is over it is known what to say.
      if (isLate) context.logger.error('onError failed', { error: causeOf(second) })
      const cause = isLate ? error : new Error('onError failed', { cause: second })
      return finish(await errorHandler()(cause, request, context), request, context, isLate)
    }
  }

  /** What the first guard or route responds that responds at all. */
  #route(request: ApiRequest, context: AppContext): MaybePromise<unknown> {
    const { host, guards, table, early } = this.#parts
    if (context.isOverridden) {
      takeQuerySentAsPost(request, () => table.at(routedPath(request)))
      context.method = request.method
    }
    const isPlain = early.size === 0 && guards.prompt.length === 0 && !context.platform?.auth
    if (!isPlain || !host.start.isReady) return this.#routeGuarded(request, context)
    return this.#match(request, context, 0, undefined)
  }

  /** The same for an app that has probes or guards, is still starting, or is mounted in a server that knows the caller. */
  async #routeGuarded(request: ApiRequest, context: AppContext): Promise<unknown> {
    const { host, guards, early } = this.#parts
    const path = routedPath(request)
    if (early.serves(path)) {
      for (const row of early.rows(context.method, path)) {
        if (!enter(row, path, request)) continue
        const made = await serveGuarded(row, [], request, context)
        if (made !== undefined) return made
      }
    }
    if (!host.start.isReady) await host.ready(context)
    await context.takeAuth()
    const refused = await firstResponse(guards.prompt, request, context)
    return refused ?? this.#match(request, context, 0, undefined)
  }

  /**
   * What the first row responds that takes the path, from the one at `from` on. A handler that returns nothing leaves the
   * request to the next row that matches, but never to a wider one: a forgotten `return` at `/featured` must not turn into a
   * search for the record with the id 'featured'. `silent` is the last one that returned nothing.
   */
  #match(
    request: ApiRequest,
    context: AppContext,
    from: number,
    silent: Row | undefined,
  ): MaybePromise<unknown> {
    const { table, guards } = this.#parts
    const path = routedPath(context)
    const rows = table.rows(context.method, path)
    for (let at = from; at < rows.length; at += 1) {
      const row = rows[at] as Row
      if ((silent && row.width > silent.width) || !enter(row, path, request)) continue
      const isGuarded = row.guards.length > 0 || guards.late.length > 0
      const made = isGuarded
        ? serveGuarded(row, guards.late, request, context)
        : row.handler(request, context)
      if (made instanceof OwnResponse) return made
      return this.#orNext(made, request, context, at + 1, row)
    }
    if (silent) table.warnOfSilent(silent, context.logger)
    return this.#serveElse(path, request, context)
  }

  async #orNext(
    made: MaybePromise<unknown>,
    request: ApiRequest,
    context: AppContext,
    from: number,
    row: Row,
  ): Promise<unknown> {
    return (await made) ?? this.#match(request, context, from, row)
  }

  /** A file, or what there is to say of a path that no route serves with this method. */
  async #serveElse(path: string, request: ApiRequest, context: AppContext): Promise<unknown> {
    const { host, table } = this.#parts
    const file = await serveFile(host.files, request, context.basePath, ({ headers }) =>
      isCurrent(request.headers, headers.get('etag') ?? '', headers.get('last-modified')),
    )
    return file ?? respondElse(table.at(path), host.files, path, request, context)
  }
}

/** A request that runs longer than this will never end: Workers end one silently when its client goes away. */
const MAX_RUN_MS = 10 * 60_000

/** Counts the requests of an app that have no response yet. */
class RequestLimits {
  /** Whether there are as many as are allowed. Those beyond are refused at once, so that the others are in time. */
  isFull = false
  readonly #max: number
  /** When each arrived, in that order. */
  readonly #running = new Map<AppContext, number>()

  /** Allows `max` requests at once; 0 for any number. */
  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** Whether one more may run, once those are forgotten that will never end. */
  hasRoom(): boolean {
    for (const [context, arrivedAt] of this.#running) {
      if (arrivedAt > Date.now() - MAX_RUN_MS) break
      this.#running.delete(context)
    }
    this.isFull = this.#running.size >= this.#max
    return !this.isFull
  }

  /** The response, which never rejects, or what `late` returns if the time of its request is over first. */
  inTime(
    response: Promise<Response>,
    context: AppContext,
    late: (reason: Error) => Promise<Response>,
  ): Promise<Response> {
    this.#running.set(context, Date.now())
    this.isFull = this.#running.size >= this.#max
    const { promise, resolve } = Promise.withResolvers<Response>()
    const remove = () => {
      this.#running.delete(context)
      this.isFull = this.#running.size >= this.#max
    }
    context.start((reason) => {
      remove()
      resolve(late(reason))
    })
    void response.then((made) => {
      remove()
      if (context.conclude() === 'over') void made.body?.cancel()
      else resolve(made)
    })
    return promise
  }
}
