/** How tokens are spelled, in base64url without padding (RFC 4648 §5), and how they are compared. */

const encoder = new TextEncoder()
const DIGITS = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

/** Encodes bytes, or a string in UTF-8. Written by hand: `btoa` and replacing characters takes several times as long as the MAC itself. */
export function base64url(data: Uint8Array | string): string {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data
  const digits = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  // The bits of the last bytes that no digit has shown yet, and their number.
  let [bits, left, at] = [0, 0, 0]
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    left += 8
    while (left >= 6) {
      left -= 6
      digits[at++] = DIGITS[(bits >> left) & 63] ?? 0
    }
  }
  if (left > 0) digits[at] = DIGITS[(bits << (6 - left)) & 63] ?? 0
  return utf8.decode(digits)
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

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

/** Decodes base64url to the JSON object in it; undefined if there is none. The same holds for it as for `textIn`. */
export function objectIn(encoded: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(textIn(encoded) ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Whether two strings are equal. Takes the same time wherever they differ, so a secret cannot be guessed byte by byte. */
export function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < b.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
