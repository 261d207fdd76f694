/** Routes of your own, of a router or of the app: how they are added, and what their types remember. */

import type { $ZodObject, $ZodType } from 'zod/v4/core'
import { refuseMiddlewares } from './engine/guards.ts'
import type { Mountable } from './engine/host.ts'
import type {
  DescribedHandler,
  Guard,
  Handler,
  Route,
  RouteDescription,
  Sendable,
} from './engine/route.ts'
import { checkDescription } from './setup/described.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'query', 'options']

/** What a typed client knows of an extra route: the schemas of its description, and what its handler returns. */
export interface ExtraRoute<P = unknown, Q = unknown, B = unknown, R = unknown, V = unknown> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly response: R
  readonly returns: V
}

/** What a typed client knows of the extra routes of a mount, by their names, as in `POST /:id/book`. */
export interface ExtraRoutes<Name extends string, E> {
  readonly routes: { readonly [N in Name]: E }
}

/** A router or an app whose type knows one more route. */
export type WithRoute<Self, Name extends string, E> = Self &
  (Self extends { readonly mount: unknown }
    ? { readonly '~/'?: ExtraRoutes<Name, E> }
    : Mountable<ExtraRoutes<Name, E>>)

type Objects = $ZodObject | undefined
type Schemas = $ZodType | undefined

/**
 * Adds a route: its path, then guards and the handler, and last a description if you want what it takes and returns to be
 * checked, described and typed. Returns the router or the app, whose type knows the route.
 */
export interface AddRoute<Method extends string> {
  // Functions alone come first: the compiler tries these in order, and would take a last handler for a description.
  <Self, const Path extends string>(
    this: Self,
    path: Path,
    ...handlers: readonly [...Guard[], Handler]
  ): WithRoute<Self, `${Method} ${Path}`, ExtraRoute>
  // The handler of a route with more guards gets its request untyped.
  <Self, const Path extends string>(
    this: Self,
    path: Path,
    ...given: readonly [Guard, Guard, ...Guard[], Handler, RouteDescription]
  ): WithRoute<Self, `${Method} ${Path}`, ExtraRoute>
  <
    Self,
    const Path extends string,
    V extends Sendable<R>,
    P extends Objects = undefined,
    Q extends Objects = undefined,
    B extends Schemas = undefined,
    R extends Schemas = undefined,
  >(
    this: Self,
    path: Path,
    guard: Guard,
    handler: DescribedHandler<P, Q, B, V>,
    description: RouteDescription<P, Q, B, R>,
  ): WithRoute<Self, `${Method} ${Path}`, ExtraRoute<P, Q, B, R, V>>
  // The usual one comes last: of several, the compiler tells of the last.
  <
    Self,
    const Path extends string,
    V extends Sendable<R>,
    P extends Objects = undefined,
    Q extends Objects = undefined,
    B extends Schemas = undefined,
    R extends Schemas = undefined,
  >(
    this: Self,
    path: Path,
    handler: DescribedHandler<P, Q, B, V>,
    description: RouteDescription<P, Q, B, R>,
  ): WithRoute<Self, `${Method} ${Path}`, ExtraRoute<P, Q, B, R, V>>
}

/** Adds routes of your own, by their methods. */
export interface AddRoutes {
  readonly get: AddRoute<'GET'>
  readonly post: AddRoute<'POST'>
  readonly put: AddRoute<'PUT'>
  readonly patch: AddRoute<'PATCH'>
  readonly delete: AddRoute<'DELETE'>
  readonly query: AddRoute<'QUERY'>
  readonly options: AddRoute<'OPTIONS'>
}

/** The functions that add routes by `add`, which returns what they return. */
export function addingRoutes(add: (route: Route) => unknown): AddRoutes {
  const functions = METHODS.map((name) => {
    const method = name.toUpperCase()
    return [
      name,
      (path: string, ...given: readonly unknown[]) => add(extraRoute(method, path, given)),
    ]
  })
  return Object.fromEntries(functions)
}

/** `given` is guards, a handler, and perhaps a description. */
function extraRoute(method: string, path: string, given: readonly unknown[]): Route {
  const last = given.at(-1)
  const about = typeof last === 'object' && last !== null ? (last as RouteDescription) : undefined
  const functions = about ? given.slice(0, -1) : given
  const handlers = functions.filter((item) => typeof item === 'function') as Guard[]
  const handler = handlers.at(-1)
  if (!handler || handlers.length < functions.length) {
    throw new TypeError(`the extra route '${path}' needs a handler, a function`)
  }
  refuseMiddlewares(`the extra route '${path}'`, handlers)
  if (about) checkDescription(method, path, about)
  const guards = handlers.slice(0, -1)
  return { method, path: extraPath(path), guards, handler, mayPass: true, ...(about && { about }) }
}

function extraPath(path: string): string {
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new TypeError(`an extra route's path starts with '/': '${path}'`)
  }
  return path === '/' ? '' : path
}
