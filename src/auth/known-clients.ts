/**
 * The clients that an account knows: those that have signed in to it. Each has a number of guesses of its own, at
 * passwords and at codes; all others share the one of the account. So a stranger who guesses, or who locks the account
 * on purpose, does not keep the owner out of the places where the owner signs in (ASVS 6.1.1).
 *
 * @module
 */

import { sameText } from '../http/constant-time.ts'
import { isFields } from '../model/writable.ts'
import type { Change, Fields } from '../ports/store.ts'
import { seal } from './mac.ts'
import type { Realm } from './realm.ts'

/** A client that has signed in, as it is stored. */
export interface KnownClient {
  /** The seal of the client's key: the record does not tell where somebody signs in from. */
  readonly client: string
  readonly guesses: number
  readonly lockedUntil?: Date
  /** The tries of codes. */
  readonly tries?: readonly CodeTries[]
}

/** The tries of one kind of code, in the window that ends at `until`. */
export interface CodeTries {
  readonly kind: string
  readonly until: Date
  readonly count: number
}

/** So many clients, each with as many guesses as all strangers together. The first to go is the one known longest. */
const MOST = 5

/** What `user` knows of `client`; undefined for one that has not signed in, and where nobody can tell clients apart. */
export function knownClient(
  realm: Realm,
  user: Fields,
  client: string | undefined,
): KnownClient | undefined {
  if (client === undefined) return undefined
  // Made whether there is something to compare with or not: it takes time.
  const seals = realm.clientKeys.all.map((key) => seal(key, textOf(user, client)))
  return clientsOf(realm, user).find((known) =>
    seals.some((sealed) => sameText(sealed, known.client)),
  )
}

/** The step that writes `next` in place of `known`, and what it expects. */
export function replaced(
  realm: Realm,
  user: Fields,
  known: KnownClient,
  next: KnownClient,
): { readonly change: Change; readonly expect: Fields } {
  const field = realm.names.knownClients
  const list = clientsOf(realm, user).map((each) => (each.client === known.client ? next : each))
  return { change: { set: { [field]: list } }, expect: { [field]: user[field] } }
}

/** `change`, after which `user` knows `client` too. */
export function withClient(
  realm: Realm,
  user: Fields,
  client: string | undefined,
  change: Change,
): Change {
  const field = realm.names.knownClients
  if (!isKept(realm) || client === undefined || knownClient(realm, user, client)) return change
  const value = newClient(realm, user, client)
  return { ...change, push: { ...change.push, [field]: { value, cap: MOST } } }
}

/** The part of a change after which `user` knows no client but `client`, without any guesses. */
export function onlyClient(realm: Realm, user: Fields, client: string | undefined): Fields {
  if (!isKept(realm)) return {}
  const kept = client === undefined ? [] : [newClient(realm, user, client)]
  return { [realm.names.knownClients]: kept }
}

function isKept({ settings, names }: Realm): boolean {
  return settings.model.shape.fields.has(names.knownClients)
}

function newClient(realm: Realm, user: Fields, client: string): KnownClient {
  return { client: seal(realm.clientKeys.current, textOf(user, client)), guesses: 0 }
}

/** With the account in it, so that two records do not tell that they share a client. */
function textOf({ _id }: Fields, client: string): string {
  return JSON.stringify([String(_id), client])
}

function clientsOf({ names }: Realm, user: Fields): readonly KnownClient[] {
  const stored = user[names.knownClients]
  return Array.isArray(stored) ? stored.filter(isKnownClient) : []
}

function isKnownClient(value: unknown): value is KnownClient {
  return isFields(value) && typeof value.client === 'string' && typeof value.guesses === 'number'
}
