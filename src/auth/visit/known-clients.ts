/**
 * The clients that an account knows: those that have signed in to it. Each has its own number of guesses at the
 * password; all other clients share the account's number. Codes have two numbers of tries: one for all known clients,
 * one for all others. So a stranger who guesses, or who locks the account on purpose, does not lock the owner out on
 * the devices where they have signed in (ASVS 6.1.1).
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
  /** The seal of the client's key: the record does not reveal where someone signs in from. */
  readonly client: string
  readonly guesses: number
  /** Its wrong passwords in a row, over any time. */
  readonly wrong?: number
  readonly lockedUntil?: Date
  /** When it last signed in or guessed. */
  readonly at: Date
}

const MOST = 5

/** The entry of `client` in `user`; undefined if it has not signed in, or the client is unknown. */
export function knownClient(
  auth: AuthInstance,
  user: Fields,
  client: string | undefined,
): KnownClient | undefined {
  if (client === undefined) return undefined
  // Computed whether or not there is something to compare with: it takes time.
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
 * Records that `client` has signed in to `user`. When all places are taken, the longest known client makes room, but
 * not one whose guesses still count: otherwise someone who can sign in from many places would get endless new guesses.
 * If none can be dropped, the client stays unknown. Returns whether the account knew others, but not this one.
 */
export async function remember(
  auth: AuthInstance,
  user: Fields,
  client: string | undefined,
): Promise<boolean> {
  const { engine, names } = auth
  const field = names.knownClients
  if (!isKept(auth) || client === undefined) return false
  let read: Fields | undefined = user
  for (let tries = 0; read && tries < MAX_TRIES; tries += 1) {
    if (knownClient(auth, read, client)) return false
    const known = clientsOf(auth, read)
    const others = withRoom(auth, known)
    if (!others) return true
    const set = { [field]: [...others, fresh(auth, read, client)] }
    const expect = { [field]: read[field] }
    const byId = withId(String(read._id))
    if (await engine.stored.update(byId, { set }, { expect })) return known.length > 0
    read = await userById(auth, String(user._id))
  }
  return false
}

/** The clients that stay when one is added; undefined if none may be dropped. */
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

/** The part of a change after which `user` knows only `client`, without any guesses. */
export function onlyClient(auth: AuthInstance, user: Fields, client: string | undefined): Fields {
  if (!isKept(auth)) return {}
  const kept = client === undefined ? [] : [fresh(auth, user, client)]
  return { [auth.names.knownClients]: kept }
}

function isKept({ settings, names }: AuthInstance): boolean {
  return settings.model.shape.fields.has(names.knownClients)
}

/** Includes the account, so that two records do not reveal that they share a client. */
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
