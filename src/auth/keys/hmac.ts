/**
 * Message authentication: one key per purpose and auth router, all derived from `token.secret` (RFC 8725 §3.10 asks
 * that no key serves two purposes). So nothing that one router has signed is valid for another router with the same
 * secret.
 *
 * There may be several secrets, so that one can replace another while both are valid. What is signed therefore names
 * its key. A name only selects one of the router's own keys.
 */

import { macUnder } from '#hmac'
import { base64url, sameText } from '../../http/base64url.ts'
import { derivedKey } from '../../http/derived-key.ts'

/** What a key is for; a part of the HKDF label. */
export type Purpose =
  | 'access token'
  | 'known client'
  | 'one-time code'
  | 'refresh token'
  | 'sign-in ticket'
  | 'stored session'
  | `method ${string}`

/** What tells auth routers apart; a part of the HKDF label. */
export interface InstanceName {
  /** The name of the user model. */
  readonly model: string
  /** The path on which the router is mounted. */
  readonly mount: string
}

/** The HMAC-SHA-256 of a string, as bytes. */
export type Mac = (text: string) => Uint8Array

/** A key for one purpose. */
export interface Key {
  /** The name of the secret behind the key, derived from it; the keys of one secret share it. */
  readonly id: string
  readonly mac: Mac
}

/** The keys for one purpose, one per secret. */
export interface Keys {
  /** The key of the first secret: it signs. */
  readonly current: Key
  /** Every key verifies. */
  readonly all: readonly Key[]
}

const ID_BYTES = 8

/** The keys for `purpose` of the auth router `name`; the first of `secrets` signs. */
export function keysFor(
  secrets: readonly [string, ...string[]],
  name: InstanceName,
  purpose: Purpose,
): Keys {
  const [first, ...others] = secrets
  const current = keyFor(first, name, purpose)
  return { current, all: [current, ...others.map((secret) => keyFor(secret, name, purpose))] }
}

/** The MAC of `text` under `key`, as a string. */
export function hmacText({ mac }: Key, text: string): string {
  return base64url(mac(text))
}

/** The MAC of `text` with the name of its key: `<id>.<MAC>`. */
export function seal(key: Key, text: string): string {
  return `${key.id}.${hmacText(key, text)}`
}

/** The router's own key that a seal names; undefined for an unknown one, and for anything that is not a seal. */
export function keyOf(keys: Keys, sealed: unknown): Key | undefined {
  const name = typeof sealed === 'string' ? sealed.split('.', 1)[0] : undefined
  return keys.all.find(({ id }) => id === name)
}

/** Whether `sealed` is the seal of `text` under one of the keys. */
export function isSealed(keys: Keys, sealed: unknown, text: string): boolean {
  const key = keyOf(keys, sealed)
  return key !== undefined && sameText(String(sealed), seal(key, text))
}

function keyFor(secret: string, name: InstanceName, purpose: Purpose): Key {
  return {
    id: base64url(derive(secret, name, 'key id', ID_BYTES)),
    mac: macUnder(derive(secret, name, purpose)),
  }
}

function derive(secret: string, { model, mount }: InstanceName, use: string, bytes?: number) {
  return derivedKey(secret, `fieldgate ${use} ${JSON.stringify([model, mount])}`, bytes)
}
