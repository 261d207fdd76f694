/**
 * The keys of objects: made by the server, never from anything that a client sent.
 *
 * @module
 */

import { hexOf } from '../ports/hex.ts'

/** A new key: `<prefix><epoch ms>-<128 random bits>.<extension>`. */
export function newKey(prefix: string, extension: string, now: number): string {
  const random = hexOf(crypto.getRandomValues(new Uint8Array(16)))
  return `${prefix}${now}-${random}.${extension}`
}

const OWN = /^\d{1,16}-[0-9a-f]{32}\.[a-z0-9]+$/

/** Whether `newKey` made `key` for `prefix`; a bucket may hold objects from elsewhere. */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(prefix) && OWN.test(key.slice(prefix.length))
}
