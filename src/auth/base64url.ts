/**
 * Base64url without padding (RFC 4648 §5).
 *
 * @module
 */

/** Bytes as text. */
export function base64url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** The bytes of a text, or undefined for any text that `base64url` does not give. */
export function bytesOf(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0))
  // Spare bits of the last character may differ in two texts of the same bytes; only one of them is ours.
  return base64url(bytes) === text ? bytes : undefined
}
