/**
 * HMAC-SHA-256 by the runtime's own `node:crypto`, which takes a third of the time of the same in JavaScript.
 *
 * It is taken from `process`, not imported: on Workers without `nodejs_compat` the import could not be deployed.
 *
 * @module
 */

import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** The HMAC-SHA-256 of strings, in UTF-8, under `key`, as hexadecimal digits. */
export function hmacUnder(key: Uint8Array): (text: string) => string {
  const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
  if (crypto) {
    const secret = crypto.createSecretKey(key)
    return (text) => crypto.createHmac('sha256', secret).update(text).digest('hex')
  }
  const keyed = hmac.create(sha256, key)
  return (text) => bytesToHex(keyed.clone().update(utf8ToBytes(text)).digest())
}
