/**
 * What guards demand, in words: for descriptions of an app, such as its OpenAPI document.
 *
 * @module
 */

import type { Guard } from './route.ts'

/** What a guard demands. */
export interface GuardDescription {
  readonly text: string
  /** Whether it reads an access token from `Authorization: Bearer`, and whether it needs one. */
  readonly token?: 'required' | 'optional' | undefined
}

const descriptions = new WeakMap<Guard, GuardDescription>()

/**
 * Says what `guard` demands, as in `describeGuard(guard, 'a paid plan')`, and returns it. With `token`, the guard reads
 * `Authorization: Bearer`.
 */
export function describeGuard<G extends Guard>(
  guard: G,
  text: string,
  token?: GuardDescription['token'],
): G {
  descriptions.set(guard, { text, token })
  return guard
}

/** What `describeGuard` said of a guard; undefined if nothing. */
export function descriptionOf(guard: Guard): GuardDescription | undefined {
  return descriptions.get(guard)
}
