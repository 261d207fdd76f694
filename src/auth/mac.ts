/**
 * Message authentication: one key for each purpose, all derived from `token.secret` (RFC 8725 §3.10 asks that
 * no key serves two purposes).
 *
 * @module
 */

import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from '../http/base64url.ts'

/** What a key is for; the HKDF label. */
export type Purpose = 'access token' | 'one-time code' | 'refresh token' | 'stored session'

/** The HMAC-SHA-256 of a text, as bytes. */
export type Mac = (text: string) => Uint8Array

const utf8 = new TextEncoder()

/** The MAC for `purpose`. Synchronous: a key schedule is made once and copied for each text. */
export function macOf(secret: string, purpose: Purpose): Mac {
  const key = hkdf(sha256, utf8.encode(secret), undefined, utf8.encode(`fieldgate ${purpose}`), 32)
  const keyed = hmac.create(sha256, key)
  return (text) => keyed.clone().update(utf8.encode(text)).digest()
}

/** The MAC of `text`, as text. */
export function tag(mac: Mac, text: string): string {
  return base64url(mac(text))
}
