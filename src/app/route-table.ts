/** The route table of an app: routing, OPTIONS and 405 all read this list. */

import { type IRequest, IttyRouter } from 'itty-router'
import type { ApiRequest } from '../http/request/request.ts'
import type { Logger } from '../ports/services/logger.ts'
import { pathOf } from '../ports/values/paths.ts'
import type { Host, MountedRoutes } from '../records/engine/host.ts'
import { patternOf, type Route } from '../records/engine/route.ts'
import { servedBy } from '../records/setup/serving.ts'

export interface Row extends Route {
  /** The whole pattern, mount path included: `/cities/:id`. */
  readonly pattern: string
  /** The path of its router, without repeated slashes; undefined if that has parameters. */
  readonly mount: string | undefined
  /** The index of the mounted router that it belongs to. */
  readonly router: number
  /** Matches the paths that the row serves; its named groups are the parameters, `names`. */
  readonly regex: RegExp
  readonly names: readonly string[]
  /** How many parts of the pattern match any string. */
  readonly width: number
}

interface Rows {
  readonly rows: readonly Row[]
  readonly byMethod: ReadonlyMap<string, readonly Row[]>
}

/** All routes of an app, in the order in which they were mounted. */
export class RouteTable {
  readonly #rows: Row[] = []
  readonly #mounts = new Set<string>()
  readonly #known = new Map<string, Rows>()
  readonly #silent = new WeakSet<Row>()
  #routers = 0
  size = 0

  /** Adds the routes of one router. A GET row also answers HEAD. */
  add({ mount, routes }: MountedRoutes): void {
    const router = this.#routers
    this.#routers += 1
    this.#known.clear()
    const own = mount.includes(':') ? undefined : mount.replace(/\/+/g, '/')
    if (own !== undefined) this.#mounts.add(own)
    for (const route of routes) {
      const pattern = `${mount}${route.path}` || '/'
      const names = (pattern.match(/:\w+/g) ?? []).map((name) => name.slice(1))
      if (new Set(names).size < names.length) {
        throw new TypeError(`the path '${pattern}' has a parameter twice. Rename one of them`)
      }
      const width = pattern.match(/[:*]/g)?.length ?? 0
      const place = { pattern, names, mount: own, router, regex: regexOf(pattern), width }
      const row: Row = { ...route, ...place }
      this.#rows.push(row)
      if (row.method === 'GET') this.#rows.push({ ...row, method: 'HEAD' })
    }
    this.size = this.#rows.length
  }

  /** The rows for `method` that may serve `path`, see `enter`. */
  rows(method: string, path: string): readonly Row[] {
    return this.#around(path).byMethod.get(method) ?? []
  }

  /** The rows that serve `path`, with any method. */
  at(path: string): readonly Row[] {
    return this.#around(path).rows.filter(({ regex }) => regex.test(path))
  }

  /** The row that responds to every request for `pattern` before a route that is added now would. */
  ahead(method: string, pattern: string): Row | undefined {
    // Nothing begins like this that a pattern names; with an optional part, a pattern is two.
    const path = pattern.replace(/:\w+\+|\*/g, '~~/~~').replace(/:\w+/g, '~~')
    return path.includes('?')
      ? undefined
      : this.rows(method, path).find(({ mayPass, regex }) => !mayPass && regex.test(path))
  }

  serves(path: string): boolean {
    return this.#around(path).rows.some(({ regex }) => regex.test(path))
  }

  /**
   * The rows that may serve `path`: those of the longest mount that it begins with, of the mounts around that one, and of
   * mounts with parameters. An app with hundreds of models would otherwise try the patterns of all of them.
   */
  #around(path: string): Rows {
    let end = path.length
    while (end > 0 && !this.#mounts.has(path.slice(0, end))) end = path.lastIndexOf('/', end - 1)
    const mount = path.slice(0, Math.max(end, 0))
    const known = this.#known.get(mount)
    if (known) return known
    const rows = this.#rows.filter(
      (row) => row.mount === undefined || row.mount === mount || mount.startsWith(`${row.mount}/`),
    )
    const around = { rows, byMethod: Map.groupBy(rows, ({ method }) => method) }
    this.#known.set(mount, around)
    return around
  }

  /** Warns of a row whose handler returned nothing, once. */
  warnOfSilent(row: Row, logger: Logger): void {
    if (this.#silent.has(row)) return
    this.#silent.add(row)
    logger.warn(
      `${row.method} ${row.pattern}: the handler returned nothing, so the response is a 404. Return a value or a Response.`,
    )
  }
}

/** Warns of the routes in `mounted` that those in `table` leave nothing to, once for each router that does. */
export function warnOfLost(
  table: RouteTable,
  { mount, routes }: MountedRoutes,
  logger: Logger,
): void {
  const lost = new Map<number, [ahead: Row, places: string[]]>()
  for (const route of routes) {
    const pattern = patternOf(mount, route)
    const ahead = table.ahead(route.method, pattern)
    if (!ahead) continue
    const as = ahead.pattern === pattern ? '' : ` (as ${ahead.method} ${ahead.pattern})`
    const [, places] = lost.get(ahead.router) ?? [ahead, []]
    lost.set(ahead.router, [ahead, [...places, `${route.method} ${pattern}${as}`]])
  }
  const own = routes.find(({ handler }) => servedBy(handler)) ?? routes[0]
  for (const [ahead, places] of lost.values()) {
    const first = nameOf(ahead.mount ?? ahead.pattern, ahead)
    logger.warn(
      `${places.join(', ')}: ${first}, which was mounted first, gets these requests, and ${nameOf(mount, own)} gets none of them. Mount that one first, or on another path.`,
    )
  }
}

function nameOf(mount: string, route: Route | undefined): string {
  const model = route && servedBy(route.handler)?.resource.model.name
  if (mount === '' && route?.mayPass) return 'that route'
  return `the router on '${mount || '/'}'${model ? ` (${model})` : ''}`
}

/** The routes of all that is mounted in an app; more may be mounted until the first request. */
export function routesOf({ mounted }: Pick<Host, 'mounted'>): () => RouteTable {
  const table = new RouteTable()
  let size = 0
  return () => {
    for (; size < mounted.length; size += 1) table.add(mounted[size] as MountedRoutes)
    return table
  }
}

/** The path that decides the route, without its query string. */
export function routedPath({ url }: Pick<Request, 'url'>): string {
  const [, plain] = PLAIN_PATH.exec(url) ?? []
  return plain ?? new URL(`http://h${pathOf(url)}`).pathname
}

/** A path that parsing leaves as it is. */
const PLAIN_PATH = /^[a-z]+:\/\/[^/?#]*(\/[\w~/-]*)(?:[?#]|$)/

/** Makes `row` the request's route, if it serves `path`. */
export function enter(row: Row, path: string, request: ApiRequest): boolean {
  const match = row.regex.exec(path)
  if (!match) return false
  const params: Record<string, string> = {}
  // An optional parameter, `:name?`, may have no value.
  for (const name of row.names) {
    const value = match.groups?.[name] ?? ''
    params[name] = value.includes('%') ? decode(value) : value
  }
  request.params = params
  request.route = row.pattern
  return true
}

/** The regular expression that the router library makes of a pattern: `:name`, `:name?`, `:name+`, `*`. */
function regexOf(pattern: string): RegExp {
  const { routes } = IttyRouter<IRequest>().get(pattern, () => {})
  const [, regex] = routes[0] ?? []
  if (!regex) throw new TypeError(`'${pattern}' is not a path`)
  return regex
}

/** If it cannot be decoded, it stays as it was sent: guards come first, and no id looks like that. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
