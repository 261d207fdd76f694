/**
 * The route table of an app: routing, OPTIONS and 405 all read this list.
 *
 * @module
 */

import { type IRequest, IttyRouter } from 'itty-router'
import { checkTime } from '../http/deadline.ts'
import { checkContext } from '../http/not-a-response.ts'
import type { ApiRequest } from '../http/request.ts'
import { shielded } from '../http/shield.ts'
import { pathOf } from '../ports/path-of.ts'
import { after, isPending, type Soon } from '../ports/soon.ts'
import type { MountedRoutes } from '../records/engine/host.ts'
import type { Context, Guard, Route } from '../records/engine/route.ts'
import { servedBy } from '../records/setup/serving.ts'
import type { AppContext } from './context.ts'
import { lateGuards, notePassed, promptGuards } from './late-guards.ts'

/** A route at its place in the table. */
export interface Row extends Route {
  /** The whole pattern, mount path included: `/cities/:id`. */
  readonly pattern: string
  /** The path of its router, without repeated slashes; undefined if that has parameters. */
  readonly mount: string | undefined
  /** The index of the mounted router that it belongs to. */
  readonly router: number
  /** Matches the paths that the row serves; its named groups are the parameters. */
  readonly regex: RegExp
  /** How many parts of the pattern match any string. */
  readonly width: number
}

/** Rows in the order in which they were mounted. */
interface Rows {
  readonly rows: readonly Row[]
  readonly byMethod: ReadonlyMap<string, readonly Row[]>
}

/** The rows that a request may be for, and the request. */
interface AskedRows {
  readonly rows: readonly Row[]
  readonly path: string
  readonly request: ApiRequest
  readonly context: AppContext
}

/** All routes of an app, in the order in which they were mounted. */
export class RouteTable {
  readonly #rows: Row[] = []
  readonly #mounts = new Set<string>()
  readonly #known = new Map<string, Rows>()
  readonly #silent = new WeakSet<Row>()
  readonly #guards: readonly Guard[]
  #routers = 0

  /** `guards` are those of the app, of which the late ones run after a row's. */
  constructor(guards: readonly Guard[] = []) {
    this.#guards = guards
  }

  /** Adds the routes of one router. A GET row also answers HEAD. */
  add({ mount, routes }: MountedRoutes): void {
    const router = this.#routers
    this.#routers += 1
    this.#known.clear()
    const own = mount.includes(':') ? undefined : mount.replace(/\/+/g, '/')
    if (own !== undefined) this.#mounts.add(own)
    for (const route of routes) {
      const pattern = `${mount}${route.path}` || '/'
      const width = pattern.match(/[:*]/g)?.length ?? 0
      const row: Row = { ...route, pattern, mount: own, router, regex: regexOf(pattern), width }
      this.#rows.push(row)
      if (row.method === 'GET') this.#rows.push({ ...row, method: 'HEAD' })
    }
  }

  /**
   * The response of the first row for the request's method and `path`, or undefined if no row responds. A handler that
   * returns nothing leaves the request to the next row that matches, but never to a wider one: a forgotten `return` at
   * `/featured` must not turn into a search for the record with the id 'featured'.
   */
  respond(path: string, request: ApiRequest, context: AppContext): Soon<unknown> {
    const rows = this.#serving(path).byMethod.get(request.method) ?? []
    return this.#respond({ rows, path, request, context }, 0, undefined)
  }

  /** Asks the rows from the one at `from` on; `silent` is the last one that returned nothing. */
  #respond(asked: AskedRows, from: number, silent: Row | undefined): Soon<unknown> {
    const { rows, path, request, context } = asked
    let last = silent
    for (let at = from; at < rows.length; at += 1) {
      const row = rows[at] as Row
      if (last && row.width > last.width) continue
      if (!enter(row, path, request)) continue
      const response = responseOf(row, request, context, this.#guards)
      if (isPending(response)) {
        return response.then((made) => made ?? this.#respond(asked, at + 1, row))
      }
      if (response !== undefined) return response
      last = row
    }
    if (last) this.#warnOf(last, context)
    return undefined
  }

  /** The rows that serve `path`, with any method. */
  at(path: string): readonly Row[] {
    return this.#serving(path).rows.filter(({ regex }) => regex.test(path))
  }

  /** Whether a row serves `path`. */
  serves(path: string): boolean {
    return this.#serving(path).rows.some(({ regex }) => regex.test(path))
  }

  /**
   * The rows that may serve `path`: those of the longest mount that it begins with, and of the mounts around that one. An
   * app with hundreds of models would otherwise try the patterns of all of them.
   */
  #serving(path: string): Rows {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const mount = path.slice(0, end)
      if (this.#mounts.has(mount)) return this.#within(mount)
    }
    return this.#within('')
  }

  /** The rows on `mount`, on those around it, and on mounts with parameters. */
  #within(mount: string): Rows {
    const known = this.#known.get(mount)
    if (known) return known
    const isAround = (other: string | undefined) =>
      other === undefined || other === mount || mount.startsWith(`${other}/`)
    const own = this.#rows.filter((row) => isAround(row.mount))
    const rows = { rows: own, byMethod: Map.groupBy(own, ({ method }) => method) }
    this.#known.set(mount, rows)
    return rows
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
function responseOf(
  row: Row,
  request: ApiRequest,
  context: AppContext,
  guards: readonly Guard[],
): Soon<unknown> {
  const [first, last] = [lateGuards(guards), lateGuards(row.guards)]
  const hasLate = first.length + last.length > 0 && row.runsLate !== true
  return after(firstResponse(promptGuards(row.guards), request, context), (early) => {
    if (early !== undefined) return early
    if (!hasLate) return handled(row, request, context)
    const isRecords = servedBy(row.handler) !== undefined
    const late = [...first, ...last]
    notePassed(request, { requests: [request], isRecords })
    return after(firstResponse(late, request, context), (response) =>
      response === undefined ? handled(row, request, context) : response,
    )
  })
}

function handled(
  { handler, isRead }: Row,
  request: ApiRequest,
  context: AppContext,
): Soon<unknown> {
  context.isRead = isRead === true
  return after<unknown, unknown>(handler(request, context), (response) => {
    if (response !== undefined && response !== null) return response
    context.isRead = false
    return undefined
  })
}

/** The first response that a guard returns; undefined if all of them, from the one at `from` on, let the request pass. */
export function firstResponse(
  guards: readonly Guard[],
  request: ApiRequest,
  context: Context,
  from = 0,
): Soon<unknown> {
  const guard = guards[from]
  if (!guard) return undefined
  return after<unknown, unknown>(
    shielded(request, () => guard(request, context)),
    (response) => {
      checkTime(request)
      // Anything else that a guard returns ends the request too: returning `false` by mistake must not let it pass.
      if (response !== undefined && response !== null) return response
      checkContext(context)
      return firstResponse(guards, request, context, from + 1)
    },
  )
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
