/**
 * Base64url without padding (RFC 4648 §5).
 *
 * @module
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Encodes bytes. Written by hand: `btoa` and replacing characters takes several times as long as the MAC itself. */
export function base64url(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    const digits = Math.min(bytes.length - at, 3) + 1
    for (let digit = 0; digit < digits; digit += 1) {
      text += ALPHABET[(three >> (18 - 6 * digit)) & 63]
    }
  }
  return text
}

const utf8 = new TextDecoder()

/** Decodes base64url; undefined if it is invalid. */
export function bytesIn(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1) return undefined
  const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/**
 * Decodes base64url to a UTF-8 string; undefined if it is invalid. Several strings decode to the same bytes, so the
 * caller must check a MAC of `encoded` itself, or that `base64url` gives the same string.
 */
export function textIn(encoded: string): string | undefined {
  const bytes = bytesIn(encoded)
  return bytes && utf8.decode(bytes)
}
