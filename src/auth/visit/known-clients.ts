/**
 * The clients that an account knows: those that have signed in to it. Each has a number of guesses at the password of its
 * own; all others share the one of the account. Codes have two numbers of tries: one for all known clients, one for all
 * others. So a stranger who guesses, or who locks the account on purpose, does not keep the owner out of the places where
 * the owner signs in (ASVS 6.1.1).
 *
 * @module
 */

import { sameText } from '../../http/constant-time.ts'
import { isFields } from '../../model/writable.ts'
import { withId } from '../../ports/filter.ts'
import type { Change, Fields } from '../../ports/store.ts'
import type { AuthInstance } from '../instance/instance.ts'
import { userById } from '../instance/user.ts'
import { seal } from '../keys/hmac.ts'

/** A client that has signed in, as it is stored. */
export interface KnownClient {
  /** The seal of the client's key: the record does not tell where somebody signs in from. */
  readonly client: string
  readonly guesses: number
  readonly lockedUntil?: Date
  /** When it signed in, or guessed last. */
  readonly at: Date
}

const MOST = 5

/** What `user` knows of `client`; undefined for one that has not signed in, and where nobody can tell clients apart. */
export function knownClient(
  auth: AuthInstance,
  user: Fields,
  client: string | undefined,
): KnownClient | undefined {
  if (client === undefined) return undefined
  // Made whether there is something to compare with or not: it takes time.
  const seals = auth.clientKeys.all.map((key) => seal(key, textOf(user, client)))
  return clientsOf(auth, user).find((known) =>
    seals.some((sealed) => sameText(sealed, known.client)),
  )
}

/** Whether there is an account and it knows `client`. */
export function isKnownTo(
  auth: AuthInstance,
  user: Fields | undefined,
  client: string | undefined,
): boolean {
  return user !== undefined && knownClient(auth, user, client) !== undefined
}

/** A client of `user` without any guesses, sealed by the first secret. */
export function fresh(auth: AuthInstance, user: Fields, client: string): KnownClient {
  const sealed = seal(auth.clientKeys.current, textOf(user, client))
  return { client: sealed, guesses: 0, at: new Date(auth.now()) }
}

/** The step that writes `next` in place of `known`, and what it expects. */
export function replaced(
  auth: AuthInstance,
  user: Fields,
  known: KnownClient,
  next: KnownClient,
): { readonly change: Change; readonly expect: Fields } {
  const field = auth.names.knownClients
  const list = clientsOf(auth, user).map((each) => (each.client === known.client ? next : each))
  return { change: { set: { [field]: list } }, expect: { [field]: user[field] } }
}

/** Other sign-ins may write the list meanwhile. */
const MAX_TRIES = 5

/**
 * Notes that `client` has signed in to `user`. When all places are taken, the one known longest makes room, but none
 * whose guesses still count: else whoever can sign in from many places would have new guesses without end. Where none can
 * go, the client stays unknown.
 */
export async function remember(
  auth: AuthInstance,
  user: Fields,
  client: string | undefined,
): Promise<void> {
  const { engine, names } = auth
  const field = names.knownClients
  if (!isKept(auth) || client === undefined) return
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_TRIES; tries += 1) {
    if (knownClient(auth, read, client)) return
    const others = withRoom(auth, clientsOf(auth, read))
    if (!others) return
    const set = { [field]: [...others, fresh(auth, read, client)] }
    const expect = { [field]: read[field] }
    const byId = withId(String(read._id))
    if (await engine.stored.update(byId, { set }, { expect })) return
    read = await userById(auth, String(user._id))
  }
}

/** The clients that stay when one is added; undefined where none may go. */
function withRoom(
  auth: AuthInstance,
  list: readonly KnownClient[],
): readonly KnownClient[] | undefined {
  if (list.length < MOST) return list
  const now = auth.now()
  const counted = now - auth.settings.lockout.lockSeconds * 1000
  const mayGo = ({ guesses, lockedUntil, at }: KnownClient) =>
    (guesses === 0 || at.getTime() <= counted) && (lockedUntil?.getTime() ?? 0) <= now
  const first = list.find(mayGo)
  return first && list.filter((each) => each !== first).slice(1 - MOST)
}

/** The part of a change after which `user` knows no client but `client`, without any guesses. */
export function onlyClient(auth: AuthInstance, user: Fields, client: string | undefined): Fields {
  if (!isKept(auth)) return {}
  const kept = client === undefined ? [] : [fresh(auth, user, client)]
  return { [auth.names.knownClients]: kept }
}

function isKept({ settings, names }: AuthInstance): boolean {
  return settings.model.shape.fields.has(names.knownClients)
}

/** With the account in it, so that two records do not tell that they share a client. */
function textOf({ _id }: Fields, client: string): string {
  return JSON.stringify([String(_id), client])
}

function clientsOf({ names }: AuthInstance, user: Fields): readonly KnownClient[] {
  const stored = user[names.knownClients]
  return Array.isArray(stored) ? stored.filter(isKnownClient) : []
}

function isKnownClient(value: unknown): value is KnownClient {
  return (
    isFields(value) &&
    typeof value.client === 'string' &&
    typeof value.guesses === 'number' &&
    value.at instanceof Date
  )
}
