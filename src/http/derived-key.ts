/** Keys from secrets: one for each purpose, so that what is signed for one is not valid for another. */

import { macUnder } from '#hmac'

const MAX_KEY_BYTES = 32
const NO_SALT = new Uint8Array(MAX_KEY_BYTES)

/** The key of a secret for the purpose `info`: HKDF-SHA-256 (RFC 5869) without a salt, of at most 32 bytes. */
export function derivedKey(
  secret: string,
  info: string,
  bytes: number = MAX_KEY_BYTES,
): Uint8Array {
  const extracted = macUnder(NO_SALT)(secret)
  return macUnder(extracted)(`${info}\u0001`).subarray(0, bytes)
}
