/**
 * Message authentication: one key for each purpose, all derived from `token.secret` (RFC 8725 §3.10 asks that
 * no key serves two purposes).
 *
 * There may be several secrets, so that one can replace another while both are good. What is signed therefore names
 * its key. A name chooses among the own keys only.
 *
 * @module
 */

import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from '../http/base64url.ts'
import { sameText } from '../http/constant-time.ts'

/** What a key is for; the HKDF label. */
export type Purpose = 'access token' | 'one-time code' | 'refresh token' | 'stored session'

/** The HMAC-SHA-256 of a text, as bytes. */
export type Mac = (text: string) => Uint8Array

/** A key for one purpose. */
export interface Key {
  /** The name of the secret behind the key, derived from it; the keys of one secret share it. */
  readonly id: string
  readonly mac: Mac
}

/** The keys for one purpose, one of each secret. */
export interface Keys {
  /** Of the first secret: it signs. */
  readonly current: Key
  /** Every key verifies. */
  readonly all: readonly Key[]
}

const ID_BYTES = 8
const KEY_BYTES = 32
const utf8 = new TextEncoder()

/** The keys for `purpose`; the first of `secrets` signs. */
export function keysFor(secrets: readonly [string, ...string[]], purpose: Purpose): Keys {
  const [first, ...others] = secrets
  const current = keyFor(first, purpose)
  return { current, all: [current, ...others.map((secret) => keyFor(secret, purpose))] }
}

/** The MAC of `text` under `key`, as text. */
export function tag({ mac }: Key, text: string): string {
  return base64url(mac(text))
}

/** The MAC of `text` with the name of its key: `<id>.<MAC>`. */
export function seal(key: Key, text: string): string {
  return `${key.id}.${tag(key, text)}`
}

/** The own key that a seal names; undefined for an unknown one, and for what is no seal. */
export function keyOf(keys: Keys, sealed: unknown): Key | undefined {
  const name = typeof sealed === 'string' ? sealed.split('.', 1)[0] : undefined
  return keys.all.find(({ id }) => id === name)
}

/** Whether `sealed` is the seal of `text` under one of the keys. */
export function isSealed(keys: Keys, sealed: unknown, text: string): boolean {
  const key = keyOf(keys, sealed)
  return key !== undefined && sameText(String(sealed), seal(key, text))
}

/** Synchronous: a key schedule is made once and copied for each text. */
function keyFor(secret: string, purpose: Purpose): Key {
  const keyed = hmac.create(sha256, derived(secret, purpose, KEY_BYTES))
  return {
    id: base64url(derived(secret, 'key id', ID_BYTES)),
    mac: (text) => keyed.clone().update(utf8.encode(text)).digest(),
  }
}

function derived(secret: string, label: string, bytes: number): Uint8Array {
  return hkdf(sha256, utf8.encode(secret), undefined, utf8.encode(`fieldgate ${label}`), bytes)
}
