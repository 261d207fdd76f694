/** The codes of authenticator apps (RFC 6238: HMAC-SHA-1, 6 digits, steps of 30 seconds), and recovery codes. */

import { sameText } from '../../http/base64url.ts'

const STEP_MS = 30_000
const DIGITS = 6
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20
/** 16 symbols a byte would be hard to type: 25 of 32 are 125 bits. */
const RECOVERY_SYMBOLS = 25
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret, in Base32 (RFC 4648), as apps take it. */
export function newSecret(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))]
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}

/** A new recovery code: five groups of five symbols. */
export function newRecoveryCode(): string {
  const symbols = [...crypto.getRandomValues(new Uint8Array(RECOVERY_SYMBOLS))]
  const text = symbols.map((byte) => BASE32[byte % BASE32.length]).join('')
  return (text.match(/.{5}/g) ?? []).join('-').toLowerCase()
}

/** The step in which `code` is right, of those of now, before and after; undefined if it is right in none. */
export async function stepOf(
  secret: string,
  code: string,
  now: number,
): Promise<number | undefined> {
  const at = Math.floor(now / STEP_MS)
  let right: number | undefined
  // All of them are compared: a comparison takes time.
  for (const step of [at - 1, at, at + 1]) {
    if (sameText(code.replaceAll(' ', ''), await codeAt(secret, step))) right = step
  }
  return right
}

export async function codeAt(secret: string, step: number): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-1' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(step))
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter.buffer))
  const offset = mac.getUint8(mac.byteLength - 1) & 15
  const number = (mac.getUint32(offset) & 0x7f_ff_ff_ff) % 10 ** DIGITS
  return String(number).padStart(DIGITS, '0')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bits = [...text]
    .map((symbol) => BASE32.indexOf(symbol).toString(2).padStart(5, '0'))
    .join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2))
}
