import type { $ZodType } from 'zod/v4/core'
import type { App } from '../app/app.ts'
import { routeServedBy, type ServedRoute } from '../auth/instance/instance.ts'
import { objectShape } from '../model/shape/shape.ts'
import { letsThrough, textsOf } from '../records/engine/guards.ts'
import { type Host, hostOf } from '../records/engine/host.ts'
import { type Guard, patternOf, type Route } from '../records/engine/route.ts'
import { AGENT_ROUTES, servedBy, servedIn } from '../records/setup/serving.ts'
import { accountFields } from './accounts.ts'
import { type FieldColumns, NO_FIELDS, type Reach, recordFields, shownFields } from './records.ts'

/** Who may do what on one route. */
export interface AuditRow extends FieldColumns {
  readonly method: string
  readonly path: string
  /** The model whose records it serves; null if it serves none. */
  readonly model: string | null
  /** Whom its guards let through, in their words; `anyone` if they demand nothing. */
  readonly who: string
  /** Whether it reaches only some of the records: by a scope, or because they belong to the caller. */
  readonly scope: boolean
  /** Whether agents reach it too, by the tools of `mcp`: as far as `who` lets them through. */
  readonly agents?: true
}

/**
 * One row for each route of what `app` has mounted so far, in the order in which routes are tried. Nothing is read from
 * the store. A route of your own is listed with its guards and what its description says; what else its handler reads and
 * writes is not known.
 *
 * ```ts
 * console.table(audit(app))
 * ```
 */
export function audit(app: Pick<App, 'store'>): readonly AuditRow[] {
  const host = hostOf(app?.store, 'audit(app)')
  const { guards, mounted } = host
  const reached = reachedByAgents(host)
  return mounted.flatMap(({ mount, routes, early }) =>
    routes.flatMap((route) => {
      const rows = rowOf(mount, route, early ? [] : guards)
      return rows.map((row) => (reached.has(route) ? { ...row, agents: true } : row))
    }),
  )
}

function reachedByAgents(host: Host): ReadonlySet<Route> {
  const all = host.mounted.flatMap(({ routes }) => routes.flatMap(({ agents = [] }) => agents))
  const reached = [...servedIn(host).values()].flatMap(({ routes }) =>
    all.flatMap((action) => routes[AGENT_ROUTES[action] as string] ?? []),
  )
  return new Set(reached)
}

function rowOf(mount: string, route: Route, shared: readonly Guard[]): readonly AuditRow[] {
  const account = routeServedBy(route.handler)
  const guards = [...shared, ...(account?.guards ?? route.guards)]
  if (!letsThrough(guards, route.method)) return []
  const served = servedBy(route.handler)
  const rights = served
    ? recordFields(served)
    : account
      ? accountFields(account)
      : describedFields(route)
  const { model, scope, ...columns } = rights
  const path = patternOf(mount, route)
  return [{ method: route.method, path, model, who: who(guards, account), scope, ...columns }]
}

function who(guards: readonly Guard[], account: ServedRoute | undefined): string {
  const texts = textsOf(guards)
  const access = account?.route.access
  const all =
    access === 'self or admin' ? texts.map((one) => (one === 'signed in' ? access : one)) : texts
  return all.length > 0 ? all.join(', ') : 'anyone'
}

/** What a route of your own reaches: `read` is what it returns, `write` what its body has. */
function describedFields({ about = {} }: Route): Reach {
  const { params, query, body, response } = about
  return {
    ...{ model: null, scope: false, ...NO_FIELDS },
    ...(response && { read: namesIn(response, 'output') }),
    ...(body && { write: namesIn(body, 'input') }),
    ...(params && { params: namesIn(params, 'input') }),
    ...(query && { query: namesIn(query, 'input') }),
  }
}

/** The members of what a schema takes or makes, or of what is in its lists; `value` is anything else. */
function namesIn(schema: $ZodType, side: 'input' | 'output'): readonly string[] {
  const shape = objectShape({ value: schema }, side).fields.get('value')
  const found = shape ? shownFields({ shape: shape as never, hidden: [] }) : []
  return found.length > 0 ? found : ['value']
}
