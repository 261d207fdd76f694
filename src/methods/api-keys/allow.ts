/** What a key may do: `allow` as it is given, and as it is judged at each use. */

import { type RouteTable, type Row, routedPath, routesOf } from '../../app/route-table.ts'
import { routeServedBy } from '../../auth/instance/instance.ts'
import { noAccess } from '../../auth/refusals.ts'
import { invalidFields } from '../../http/errors/refusals.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { isNames } from '../../model/option-rules.ts'
import { isFields } from '../../model/writable.ts'
import type { Host } from '../../records/engine/host.ts'
import type { Route } from '../../records/engine/route.ts'
import { type Serving, servedBy } from '../../records/setup/serving.ts'

export interface Rule {
  /** The mount; `*` for all. */
  readonly mount: string
  readonly actions: readonly string[]
}

const ACTIONS: Readonly<Record<Serving['operation'], string>> = {
  list: 'list',
  query: 'list',
  read: 'read',
  create: 'create',
  update: 'update',
  delete: 'remove',
  history: 'history',
  restore: 'restore',
}
const MOST_RULES = 100

/** Judges what keys may do by the routes of an app. */
export class Judge {
  readonly #host: Host
  readonly #table: () => RouteTable

  constructor(host: Host) {
    this.#host = host
    this.#table = routesOf(host)
  }

  /** The actions of each mount, but for those of accounts. */
  actions(): ReadonlyMap<string, ReadonlySet<string>> {
    const known = new Map<string, Set<string>>()
    for (const { mount, routes, early } of this.#host.mounted) {
      const open = routes.filter(({ handler }) => !routeServedBy(handler))
      if (early || open.length === 0) continue
      const actions = known.get(mount || '/') ?? new Set<string>(Object.values(ACTIONS))
      for (const route of open) actions.add(actionOf(route))
      known.set(mount || '/', actions)
    }
    return known
  }

  /** Whether a request is for a route of accounts, which no key opens. */
  isOfAccounts(request: ApiRequest): boolean {
    return this.#rows(request).some(({ handler }) => routeServedBy(handler))
  }

  /** Throws a 403 unless `allow` has every route that may serve `request`. */
  check(allow: readonly Rule[], request: ApiRequest): void {
    // The operations of a batch are judged one by one, as if each had come alone.
    const rows = this.#rows(request)
    if (rows.length > 0 && rows.every((row) => row.runsLate || this.#has(allow, row))) return
    // No route: whether there is a file, a 404 or a 405, only a key for everything learns.
    if (rows.length === 0 && allow.some(({ mount }) => mount === '*')) return
    throw noAccess()
  }

  #has(allow: readonly Rule[], row: Row): boolean {
    const at = this.#host.mounted[row.router]?.mount || '/'
    const action = actionOf(row)
    return allow.some(
      ({ mount, actions }) => (mount === '*' || mount === at) && actions.includes(action),
    )
  }

  /** The row that serves a request, and those to which its handler may leave it: never wider ones. */
  #rows(request: ApiRequest): readonly Row[] {
    const path = routedPath(request)
    const rows = this.#table()
      .rows(request.method, path)
      .filter(({ regex }) => regex.test(path))
    return rows.filter(({ width }) => width <= (rows[0]?.width ?? 0))
  }
}

/** What a route does, as `allow` says it. */
function actionOf({ handler, method, path }: Route): string {
  const served = servedBy(handler)
  if (served) return ACTIONS[served.operation]
  return `${method === 'HEAD' ? 'GET' : method} ${path || '/'}`
}

/** The `allow` of a body. Throws a 400 that says what is wrong with it. */
export function allowIn(value: unknown, judge: Judge): readonly Rule[] {
  const refuse = (message: string): never => {
    throw invalidFields({ allow: message })
  }
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_RULES
  if (!isList) return refuse(`Required: a list of 1 to ${MOST_RULES} rules.`)
  const known = judge.actions()
  const everywhere = new Set([...known.values(), Object.values(ACTIONS)].flatMap((all) => [...all]))
  return value.map((rule: unknown) => {
    const { mount, actions } = isFields(rule) ? rule : {}
    const isFull = isNames(actions) && actions.length > 0 && actions.length <= MOST_RULES
    if (typeof mount !== 'string' || !isFull) {
      return refuse("Each rule has a 'mount' and a list of 'actions'.")
    }
    const there = mount === '*' ? everywhere : known.get(mount)
    if (!there) return refuse('Unknown mount.')
    if (!actions.every((action) => there.has(action))) return refuse('Unknown action.')
    return { mount, actions: [...new Set(actions)] }
  })
}
