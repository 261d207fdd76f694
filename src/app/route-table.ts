/**
 * The route table of an app: routing, OPTIONS and 405 all read this list.
 *
 * @module
 */

import { type IRequest, IttyRouter } from 'itty-router'
import { checkTime } from '../http/deadline.ts'
import type { ApiRequest } from '../http/request.ts'
import { pathOf } from '../ports/path-of.ts'
import type { MountedRoutes } from '../records/engine/host.ts'
import type { Context, Guard, Route } from '../records/engine/route.ts'
import type { AppContext } from './context.ts'

/** A route at its place in the table. */
export interface Row extends Route {
  /** The whole pattern, mount path included: `/cities/:id`. */
  readonly pattern: string
  /** The index of the mounted router that it belongs to. */
  readonly router: number
  /** Matches the paths that the row serves; its named groups are the parameters. */
  readonly regex: RegExp
  /** How many parts of the pattern match any string. */
  readonly width: number
}

/** All routes of an app, in the order in which they were mounted. */
export class RouteTable {
  readonly #rows: Row[] = []
  readonly #byMethod = new Map<string, Row[]>()
  readonly #silent = new WeakSet<Row>()
  #routers = 0

  /** Adds the routes of one router. A GET row also answers HEAD. */
  add({ mount, routes }: MountedRoutes): void {
    const router = this.#routers
    this.#routers += 1
    for (const route of routes) {
      const pattern = `${mount}${route.path}` || '/'
      const width = pattern.match(/[:*]/g)?.length ?? 0
      const row: Row = { ...route, pattern, router, regex: regexOf(pattern), width }
      this.#push(row)
      if (row.method === 'GET') this.#push({ ...row, method: 'HEAD' })
    }
  }

  /**
   * The response of the first row for the request's method and `path`, or undefined if no row responds. A handler that
   * returns nothing leaves the request to the next row that matches, but never to a wider one: a forgotten `return` at
   * `/featured` must not turn into a search for the record with the id 'featured'.
   */
  async respond(path: string, request: ApiRequest, context: AppContext): Promise<unknown> {
    let silent: Row | undefined
    for (const row of this.#byMethod.get(request.method) ?? []) {
      if (silent && row.width > silent.width) continue
      if (!enter(row, path, request)) continue
      const response = await responseOf(row, request, context)
      if (response !== undefined) return response
      silent = row
    }
    if (silent) this.#warnOf(silent, context)
    return undefined
  }

  /** The rows that serve `path`, with any method. */
  at(path: string): readonly Row[] {
    return this.#rows.filter(({ regex }) => regex.test(path))
  }

  /** Whether a row serves `path`. */
  serves(path: string): boolean {
    return this.#rows.some(({ regex }) => regex.test(path))
  }

  #push(row: Row): void {
    this.#rows.push(row)
    const own = this.#byMethod.get(row.method)
    if (own) own.push(row)
    else this.#byMethod.set(row.method, [row])
  }

  #warnOf(row: Row, { logger }: AppContext): void {
    if (this.#silent.has(row)) return
    this.#silent.add(row)
    logger.warn(
      `${row.method} ${row.pattern}: the handler returned nothing, so the response is a 404. Return a Response.`,
    )
  }
}

/** Routing only sees the path; query strings are parsed in http/query-string.ts, which keeps repeated names. */
export function routedPath(request: Request): string {
  const path = pathOf(request.url)
  return PLAIN_PATH.test(path) ? path : new URL(`http://h${path}`).pathname
}

/** A path that parsing leaves as it is. */
const PLAIN_PATH = /^(?:\/[\w~-]*)+$/

/** Makes `row` the request's route, if it serves `path`. */
export function enter(row: Row, path: string, request: ApiRequest): boolean {
  const match = row.regex.exec(path)
  if (!match) return false
  request.params = decoded(match.groups)
  request.route = row.pattern
  return true
}

/** The response of a row's guards and handler; undefined if all of them leave the request to others. */
async function responseOf(
  { guards, handler, isRead }: Row,
  request: ApiRequest,
  context: AppContext,
): Promise<unknown> {
  const early = await firstResponse(guards, request, context)
  if (early !== undefined) return early
  context.isRead = isRead === true
  const response: unknown = await handler(request, context)
  if (response !== undefined && response !== null) return response
  context.isRead = false
  return undefined
}

/** The first response that a guard returns; undefined if all of them let the request pass. */
export async function firstResponse(
  guards: readonly Guard[],
  request: ApiRequest,
  context: Context,
): Promise<unknown> {
  for (const guard of guards) {
    const response: unknown = await guard(request, context)
    checkTime(request)
    // Anything else that a guard returns ends the request too: returning `false` by mistake must not let it pass.
    if (response !== undefined && response !== null) return response
  }
  return undefined
}

/** The regular expression that the router library makes of a pattern: `:name`, `:name?`, `:name+`, `*`. */
function regexOf(pattern: string): RegExp {
  const { routes } = IttyRouter<IRequest>().get(pattern, () => {})
  const [, regex] = routes[0] ?? []
  if (!regex) throw new TypeError(`'${pattern}' is not a path`)
  return regex
}

function decoded(params: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own: Record<string, string> = {}
  // An optional parameter, `:name?`, may have no value.
  for (const name in params) own[name] = decode(params[name] ?? '')
  return own
}

/** If it cannot be decoded, it stays as it was sent: guards come first, and no id looks like that. */
function decode(value: string): string {
  if (!value.includes('%')) return value
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
