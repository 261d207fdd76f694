/**
 * Objects' keys: made by the server, never from what a client says.
 *
 * @module
 */

import { bytesToHex } from '@noble/hashes/utils.js'

/** A new key: `<prefix><epoch ms>-<128 random bits>.<extension>`. */
export function newKey(prefix: string, extension: string, now: number): string {
  const random = bytesToHex(crypto.getRandomValues(new Uint8Array(16)))
  return `${prefix}${now}-${random}.${extension}`
}

const OWN = /^\d{1,16}-[0-9a-f]{32}\.[a-z0-9]+$/

/** Whether `key` is one that `newKey` made for `prefix`; a bucket may hold what others put there. */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(prefix) && OWN.test(key.slice(prefix.length))
}
