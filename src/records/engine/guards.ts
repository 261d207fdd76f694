/** What guards demand, in words: for descriptions of an app, such as its OpenAPI document. */

import type { HttpError } from '../../http/errors/errors.ts'
import type { Fail } from '../../model/option-rules.ts'
import type { Host } from './host.ts'
import { type Guard, patternOf } from './route.ts'

/** What a guard demands, and what it may respond with. */
export interface GuardDescription {
  /** Whom it lets through, as in `a paid plan`; `anyone` if it demands nothing. */
  readonly text: string
  /** Whether it reads an access token from `Authorization: Bearer`, and whether it needs one. */
  readonly token?: 'required' | 'optional'
  /** The roles of which it demands one. */
  readonly roles?: readonly string[]
  /** The header with the API key that it needs. */
  readonly apiKey?: string
  /** The errors that it refuses requests with. Without them, it may respond with anything. */
  readonly refusals?: readonly HttpError[]
  /** The only methods that it lets through. Default: all. */
  readonly methods?: readonly string[]
}

const descriptions = new WeakMap<Guard, GuardDescription>()

/** Says what `guard` demands, as in `describeGuard(guard, 'a paid plan')`, and returns it. */
export function describeGuard<G extends Guard>(
  guard: G,
  text: string,
  more: Omit<GuardDescription, 'text'> = {},
): G {
  if (typeof guard !== 'function') {
    throw new TypeError('describeGuard(guard, text) takes a guard, which is a function')
  }
  descriptions.set(guard, { ...more, text })
  return guard
}

const followers = new WeakSet<Guard>()

/** Says that `guard` needs what a guard before it finds out of the caller, and returns it. */
export function followsAuth(guard: Guard): Guard {
  followers.add(guard)
  return guard
}

/** Throws a `TypeError` if one of `guards` needs the caller, whom only a later one can find. */
export function checkOrder(place: string, guards: readonly Guard[]): void {
  const at = guards.findIndex((guard) => followers.has(guard))
  const finds = (guard: Guard) => descriptions.get(guard)?.token && !followers.has(guard)
  // What a guard of your own finds is not known.
  const mayFind = (guard: Guard) => !descriptions.has(guard) || finds(guard)
  if (at < 0 || guards.slice(0, at).some(mayFind) || !guards.slice(at).some(finds)) return
  throw new TypeError(
    `${place}: requireRole comes before requireAuth, so it would refuse everyone. Write [auth.requireAuth, auth.requireRole(…)]`,
  )
}

type InApp = (host: Host, place: string) => void

const needed = new WeakMap<Guard, InApp>()

/** Says what an app must have for `guard`: `check` throws a `TypeError` that names the place where the guard is. */
export function needsInApp(guard: Guard, check: InApp): void {
  needed.set(guard, check)
}

/** Throws a `TypeError` if a guard of the app lacks what it needs. */
export function checkNeeds(host: Host): void {
  const { guards, early, mounted } = host
  const check = (place: string, all: readonly Guard[]) => {
    for (const guard of all) needed.get(guard)?.(host, place)
  }
  check('app.use()', [...early, ...guards])
  for (const { mount, routes } of mounted) {
    for (const route of routes) check(`${route.method} ${patternOf(mount, route)}`, route.guards)
  }
}

export function descriptionsOf(guards: readonly Guard[]): readonly GuardDescription[] {
  return guards.map((guard) => descriptions.get(guard) ?? { text: 'guarded' })
}

export function isDescribed(guard: Guard): boolean {
  return descriptions.has(guard)
}

/** What `guards` demand together, in words; empty if anyone gets through. */
export function textsOf(guards: readonly Guard[]): readonly string[] {
  const texts = descriptionsOf(guards).map(({ text }) => text)
  return [...new Set(texts.filter((text) => text !== 'anyone'))]
}

export function demandsRole(guards: readonly Guard[]): boolean {
  return descriptionsOf(guards).some(({ roles }) => roles !== undefined && roles.length > 0)
}

export function letsThrough(guards: readonly Guard[], method: string): boolean {
  return descriptionsOf(guards).every(({ methods }) => methods?.includes(method) ?? true)
}

/** How many parameters a middleware of Express declares at least: `(req, res, next)`. */
const MIDDLEWARE_PARAMETERS = 3

/** Calls `fail` for a function with a third parameter, as in Express: it would call `next`, which nothing passes. */
export function refuseMiddlewares(
  option: string,
  functions: readonly unknown[],
  fail: Fail = (message) => {
    throw new TypeError(message)
  },
): void {
  for (const each of functions) {
    if (typeof each !== 'function' || each.length < MIDDLEWARE_PARAMETERS) continue
    fail(
      `${option} has the function '${each.name}' with ${each.length} parameters, as a middleware of Express. A guard takes (request, context), and returns nothing instead of next(). In Express, write server.use(middleware, toExpress(app))`,
    )
  }
}
