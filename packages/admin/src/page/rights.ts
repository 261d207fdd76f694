/**
 * What the caller may do: by what the document says of each route, and by what the app has refused so far.
 *
 * @module
 */

import type { Action, Operation, Resource } from './document.ts'

/** Statuses that say that something may not be done at all. */
const NEVER = [401, 403, 405]

/** What is known of the caller. */
export class Rights {
  /** The id of the caller; empty if they have not signed in. */
  who = ''
  #roles: readonly string[] = []
  #isSignedIn = false
  #version = 0
  readonly #refused = new Set<string>()
  readonly #listeners = new Set<() => void>()

  /** Begins anew with a user, or with none. */
  readonly identify = (
    user: { readonly _id?: unknown; readonly role?: unknown } | undefined,
  ): void => {
    this.who = String(user?._id ?? '')
    const roles = [user?.role ?? []].flat().map(String)
    const isSame = `${roles}` === `${this.#roles}` && this.#isSignedIn === (user !== undefined)
    if (isSame) return
    this.#roles = roles
    this.#isSignedIn = user !== undefined
    this.#refused.clear()
    this.#changed()
  }

  /** Whether to offer a route. */
  readonly allows = (operation: Operation | undefined): boolean => {
    if (!operation) return false
    const { security = [], 'x-fieldgate': { roles = [] } = {} } = operation
    const isOpen = security.length === 0 || security.some((one) => Object.keys(one).length === 0)
    if (!this.#isSignedIn) return isOpen && roles.length === 0
    // Where a role is kept under another name, it is not known: then only a try tells.
    if (this.#roles.length === 0) return true
    return roles.every((group) => group.some((role) => this.#roles.includes(role)))
  }

  /** Whether to offer something on the records of a mount. */
  readonly may = (resource: Resource, action: Action): boolean =>
    this.allows(resource.actions[action]) && !this.#refused.has(`${resource.mount} ${action}`)

  /** Whether to show the records of a mount at all. */
  readonly shows = (resource: Resource): boolean =>
    this.may(resource, 'list') || this.may(resource, 'query')

  /** Notes a refusal. What may never be done is not offered again. */
  readonly note = (resource: Resource, action: Action, status: number): void => {
    if (!NEVER.includes(status)) return
    this.#refused.add(`${resource.mount} ${action}`)
    this.#changed()
  }

  /** For React: tells when something has changed. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly version = (): number => this.#version

  #changed(): void {
    this.#version += 1
    for (const listener of this.#listeners) listener()
  }
}
