/**
 * The way of a request through the app, from top to bottom: probes, start-up, guards, the route, files, and the response
 * that is sent.
 *
 * @module
 */

import { type ErrorHandler, errorHandler } from '../http/error-handler.ts'
import { checkHost } from '../http/host.ts'
import { Load } from '../http/load.ts'
import { unavailable } from '../http/outages.ts'
import type { ApiRequest } from '../http/request.ts'
import type { Soon } from '../ports/soon.ts'
import type { Guard } from '../records/engine/route.ts'
import { servedBy } from '../records/setup/serving.ts'
import { serveFile } from '../uploads/serve.ts'
import type { AppContext } from './context.ts'
import type { AppHost } from './create-host.ts'
import { firstResponse, type GuardLists, inLists, notePassed } from './guards.ts'
import { respondElse, takeQuerySentAsPost } from './methods.ts'
import type { ResolvedAppOptions } from './options.ts'
import { finished } from './response.ts'
import { enter, type RouteTable, type Row, routedPath } from './route-table.ts'

/** The guards of an app. */
export interface AppGuards extends GuardLists {
  /** Those that run before anything else. */
  readonly early: Guard[]
}

/** What requests go through. */
export interface Parts {
  readonly host: AppHost
  readonly guards: AppGuards
  readonly table: RouteTable
  /** The routes that respond even before start-up. */
  readonly early: RouteTable
  readonly onError: ErrorHandler
}

const OVERLOADED = new Error('there are more requests than can be handled in time')

/** Responds to requests. */
export class Flow {
  readonly #parts: Parts
  readonly #load: Load
  readonly #limitMs: number

  constructor(parts: Parts, options: Pick<ResolvedAppOptions, 'maxInFlight' | 'requestTimeoutMs'>) {
    this.#parts = parts
    this.#load = new Load(options.maxInFlight)
    this.#limitMs = options.requestTimeoutMs
  }

  /** Responds to a request, in time; never rejects. */
  begin(request: ApiRequest, context: AppContext): Promise<Response> {
    if (this.#parts.guards.early.length > 0) return this.#guardedEarly(request, context)
    return this.#inTime(request, context)
  }

  /** Runs the early guards before anything else. */
  async #guardedEarly(request: ApiRequest, context: AppContext): Promise<Response> {
    try {
      const response = await firstResponse(this.#parts.guards.early, request, context)
      if (response !== undefined) return await finished(response, request, context)
    } catch (error) {
      return this.#failed(error, request, context)
    }
    return this.#inTime(request, context)
  }

  /** Responds, or refuses if there are too many requests or this one takes too long. */
  #inTime(request: ApiRequest, context: AppContext): Promise<Response> {
    const isTooMany = context.isRefused || !this.#load.hasRoom()
    if (isTooMany && !this.#parts.early.serves(routedPath(request))) {
      return this.#failed(unavailable(OVERLOADED), request, context)
    }
    if (this.#limitMs > 0) context.limit(this.#limitMs)
    const response = this.#respond(request, context)
    // A response that is there is in time, and its request is no longer one of those in flight.
    if (!context.isAnswered) return this.#awaited(response, request, context)
    context.conclude()
    return response
  }

  #awaited(
    response: Promise<Response>,
    request: ApiRequest,
    context: AppContext,
  ): Promise<Response> {
    this.#load.begin(request)
    return new Promise((resolve) => {
      const end = (sent: Response | Promise<Response>) => {
        this.#load.end(request)
        resolve(sent)
      }
      context.start((reason) => end(this.#failed(unavailable(reason), request, context, true)))
      void response.then((made) => {
        if (context.conclude() === 'over') void made.body?.cancel()
        else end(made)
      })
    })
  }

  /**
   * Responds, or turns a failure into its response. Only what is not there yet is waited for: if that is nothing, the response is there
   * when this returns, as `context.isAnswered` says.
   */
  async #respond(request: ApiRequest, context: AppContext): Promise<Response> {
    let response: Response
    try {
      checkHost(request.headers.get('host'))
      const made = this.#routed(request, context)
      const sent = finished(made instanceof Response ? made : await made, request, context)
      response = sent instanceof Response ? sent : await sent
    } catch (error) {
      response = await this.#failed(error, request, context)
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
    try {
      return await finished(await onError(error, request, context), request, context, isLate)
    } catch (second) {
      const cause = new Error('onError failed', { cause: second })
      return finished(await errorHandler()(cause, request, context), request, context, isLate)
    }
  }

  /** What the first guard or route responds that responds at all. */
  #routed(request: ApiRequest, context: AppContext): Soon<unknown> {
    const { host, guards, table, early } = this.#parts
    const path = routedPath(request)
    takeQuerySentAsPost(request, () => table.at(path))
    const isPlain = early.size === 0 && guards.prompt.length === 0 && !context.givesAuth
    if (!isPlain || !host.isReady()) return this.#arrived(path, request, context)
    return this.#matched(path, request, context, 0, undefined)
  }

  /** The same for an app that has probes or guards, is still starting, or is mounted in a server that knows the caller. */
  async #arrived(path: string, request: ApiRequest, context: AppContext): Promise<unknown> {
    const { host, guards, early } = this.#parts
    if (early.serves(path)) {
      for (const row of early.rows(request.method, path)) {
        if (!enter(row, path, request)) continue
        const made = await this.#served(row, [], request, context)
        if (made !== undefined) return made
      }
    }
    if (!host.isReady()) await host.ready()
    await context.takeAuth()
    const refused = await firstResponse(guards.prompt, request, context)
    return refused ?? this.#matched(path, request, context, 0, undefined)
  }

  /**
   * What the first row responds that takes the path, from the one at `from` on. A handler that returns nothing leaves the
   * request to the next row that matches, but never to a wider one: a forgotten `return` at `/featured` must not turn into a
   * search for the record with the id 'featured'. `silent` is the last one that returned nothing.
   */
  #matched(
    path: string,
    request: ApiRequest,
    context: AppContext,
    from: number,
    silent: Row | undefined,
  ): Soon<unknown> {
    const { table, guards } = this.#parts
    const rows = table.rows(request.method, path)
    for (let at = from; at < rows.length; at += 1) {
      const row = rows[at] as Row
      if (silent && row.width > silent.width) continue
      if (!enter(row, path, request)) continue
      const made = this.#served(row, guards.late, request, context)
      if (made instanceof Response) return made
      return this.#orNext(made, path, request, context, at + 1, row)
    }
    if (silent) table.warnOfSilent(silent, context.logger)
    return this.#unrouted(path, request, context)
  }

  async #orNext(
    made: Soon<unknown>,
    path: string,
    request: ApiRequest,
    context: AppContext,
    from: number,
    row: Row,
  ): Promise<unknown> {
    return (await made) ?? this.#matched(path, request, context, from, row)
  }

  /** The response of a row's guards and handler, and of the app's `late` guards; undefined if all leave the request to others. */
  #served(
    row: Row,
    late: readonly Guard[],
    request: ApiRequest,
    context: AppContext,
  ): Soon<unknown> {
    if (row.guards.length > 0 || late.length > 0) return guarded(row, late, request, context)
    context.isRead = row.isRead === true
    return row.handler(request, context)
  }

  async #unrouted(path: string, request: ApiRequest, context: AppContext): Promise<unknown> {
    const { host, table } = this.#parts
    context.isRead = false
    return (
      (await serveFile(host.files, request, context.basePath)) ??
      respondElse(table.at(path), host.files, path, request, context)
    )
  }
}

/** The lists of a row grow until the app starts, so they are not taken apart before. */
async function guarded(
  row: Row,
  late: readonly Guard[],
  request: ApiRequest,
  context: AppContext,
): Promise<unknown> {
  context.isRead = false
  const own = inLists(row.guards)
  const refused = await firstResponse(own.prompt, request, context)
  if (refused !== undefined) return refused
  const last = row.runsLate ? [] : [...late, ...own.late]
  if (last.length > 0) {
    notePassed(request, { requests: [request], isRecords: servedBy(row.handler) !== undefined })
    const response = await firstResponse(last, request, context)
    if (response !== undefined) return response
  }
  context.isRead = row.isRead === true
  return row.handler(request, context)
}
