/**
 * SHA-256 and HMAC-SHA-256 on Workers, by `node:crypto`: what does the same in JavaScript would be 3 KiB of every bundle,
 * gzipped.
 *
 * @module
 */

import { createHash, createHmac, createSecretKey } from 'node:crypto'

/** The SHA-256 of bytes, or of a string in UTF-8. */
export function digestOf(data: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest()
}

/** The same in hexadecimal. */
export function hexDigestOf(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** The HMAC-SHA-256 of strings, in UTF-8, under `key`. */
export function macUnder(key: Uint8Array): (text: string) => Uint8Array {
  const secret = createSecretKey(key)
  return (text) => createHmac('sha256', secret).update(text).digest()
}

/** The same as text. */
export function textMacUnder(
  key: Uint8Array,
  spelled: 'hex' | 'base64url',
): (text: string) => string {
  const secret = createSecretKey(key)
  return (text) => createHmac('sha256', secret).update(text).digest(spelled)
}
