/** Which routes are enabled, under which paths, and which guards run before them. */

import { refuseMiddlewares } from '../../records/engine/guards.ts'
import type { Guard } from '../../records/engine/route.ts'
import { fail, group, needsPart, strings } from '../option-checks.ts'
import type { RouteName } from '../request-info.ts'
import type { Method, MethodRoute } from './method.ts'
import type { AuthOptions, MiddlewaresOption } from './options.ts'
import { checkRoles, roleSettings } from './roles.ts'

/** A row of the route table, without its handler. */
export interface RouteRow<Name extends string = string>
  extends Pick<MethodRoute, 'path' | 'access' | 'optionalAuth' | 'hidesAccounts' | 'enrols'> {
  readonly name: Name
  readonly method: string
  readonly needs?: 'refresh' | 'emailVerification'
  /** Whether the route is off unless `routes` names it. */
  readonly optIn?: true
}

function namesOf(rows: readonly { readonly name: string }[]): readonly string[] {
  return rows.map(({ name }) => name)
}

export function routePaths(
  rows: readonly RouteRow[],
  option: AuthOptions<never>['routes'],
  has: Readonly<Record<NonNullable<RouteRow['needs']>, boolean>>,
): ReadonlyMap<string, string> {
  const routes = group('routes', option, namesOf(rows))
  const isThere = (option: keyof typeof has) => rows.some(({ needs }) => needs === option)
  if (has.refresh && !isThere('refresh')) needsPart('refresh', 'sessions')
  if (has.emailVerification && !isThere('emailVerification')) {
    needsPart('emailVerification', 'emailVerification')
  }
  const paths = new Map<string, string>()
  const taken = new Set<string>()
  for (const row of rows) {
    const path = pathOf(row, routes[row.name as RouteName])
    if (path === undefined || (row.needs && !has[row.needs])) continue
    // The app ignores trailing and doubled slashes.
    const matched = path.replace(/\/+/g, '/').replace(/\/$/, '').replace(/:\w+/g, ':')
    const route = `${row.method} ${matched}`
    if (taken.has(route)) fail(`'routes' serves '${row.method} ${path}' twice`)
    taken.add(route)
    paths.set(row.name, path)
  }
  return paths
}

/** The path of a route by the option; undefined if the option turns it off. */
function pathOf(
  { name, path, optIn }: RouteRow,
  chosen: string | boolean | undefined,
): string | undefined {
  if (chosen === false || (optIn && chosen === undefined)) return undefined
  if (chosen === undefined || chosen === true) return path
  if (typeof chosen !== 'string' || !/^\/[\w\-./~:]*$/.test(chosen)) {
    return fail(`'routes.${name}' must be a path that starts with '/', or false`)
  }
  const [parameter] = /:\w+/.exec(path) ?? []
  if (parameter && !chosen.split('/').includes(parameter)) {
    fail(`'routes.${name}' must hold '${parameter}', as '${path}' does`)
  }
  return chosen
}

/** The guards that run before a route's own, `all` first. */
export function middlewaresByRoute(
  rows: readonly RouteRow[],
  option: MiddlewaresOption | undefined,
): (route?: string) => readonly Guard[] {
  if (Array.isArray(option)) {
    const guards = guardsOf('middlewares', option)
    return () => guards
  }
  const byName = Object.entries(group('middlewares', option, ['all', ...namesOf(rows)]))
  const resolved = new Map(
    byName.map(([name, guards]) => [name, guardsOf(`middlewares.${name}`, guards)]),
  )
  return (route) => [...(resolved.get('all') ?? []), ...(resolved.get(route ?? '') ?? [])]
}

function guardsOf(option: string, value: unknown): readonly Guard[] {
  const guards = [value ?? []].flat()
  if (!guards.every((guard) => typeof guard === 'function')) {
    fail(`'${option}' must be a function or a list of functions`)
  }
  refuseMiddlewares(`'${option}'`, guards, fail)
  return guards as unknown as readonly Guard[]
}

/** The routes that `methods` bring, in the order in which `router.urls` lists them. */
export function methodRoutes(methods: readonly Method[]): readonly MethodRoute[] {
  const own = methods.flatMap(({ routes }) => routes)
  return [...new Set([...(methods[0]?.machinery.routes ?? []), ...own])]
}

export function methodsOf(option: AuthOptions<never>['methods'] = []): readonly Method[] {
  const isMethod = (one: Method) => typeof one?.open === 'function' && one.machinery !== undefined
  if (!Array.isArray(option) || !option.every(isMethod)) {
    fail(
      `'methods' must be a list of methods, such as [apiKeys()]. defineMethod() of fieldgate/methods makes your own`,
    )
  }
  const names = [...option.map(({ name, part }) => part ?? name), ...namesOf(methodRoutes(option))]
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) fail(`'methods' has '${twice}' twice`)
  return option
}

export function requiredForOf(options: AuthOptions<never>): readonly string[] {
  const { requiredFor } = group('secondFactor', options.secondFactor, ['requiredFor'])
  const roles = strings('secondFactor.requiredFor', requiredFor) ?? []
  checkRoles(`'secondFactor.requiredFor'`, roles, roleSettings(options.roles))
  return roles
}
