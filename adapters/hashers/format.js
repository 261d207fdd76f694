/**
 * The stored form of a password hash, and which parameters are taken.
 *
 * @module
 */

/** What new hashes are made with: 16 MiB and about 80 ms, chosen for machines of 128 MiB (OWASP, scrypt). */
export const parameters = Object.freeze({ N: 16384, r: 8, p: 5 })

const SALT_BYTES = 16
const HASH_BYTES = 32

// A record may hold hashes of other makers; what would need more memory than this is not computed.
const MAX_MEMORY = 256 * 1024 * 1024
const MAX_WORK = 2 ** 26

/**
 * @typedef {{ N: number, r: number, p: number, salt: Uint8Array, hash: Uint8Array }} Parts
 * @typedef {(plain: string, salt: Uint8Array, options: { N: number, r: number, p: number, length: number }) => Promise<Uint8Array>} Derive
 */

/**
 * The hasher over a scrypt function.
 *
 * @param {Derive} derive
 * @returns {import('../../src/ports/hasher.ts').Hasher}
 */
export function hasherOver(derive) {
  const { N, r, p } = parameters
  return {
    async hash(plain) {
      const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
      const hash = await derive(plain, salt, { N, r, p, length: HASH_BYTES })
      return `scrypt$${N}$${r}$${p}$${encode(salt)}$${encode(hash)}`
    },
    async verify(plain, stored) {
      const parts = parse(stored)
      // Same time for text in no known format: hash all the same.
      const { hash, ...from } = parts ?? {
        N,
        r,
        p,
        salt: new Uint8Array(SALT_BYTES),
        hash: new Uint8Array(HASH_BYTES),
      }
      const computed = await derive(plain, from.salt, {
        N: from.N,
        r: from.r,
        p: from.p,
        length: hash.length,
      })
      return same(computed, hash) && parts !== undefined
    },
    needsRehash(stored) {
      const parts = parse(stored)
      return !parts || parts.N !== N || parts.r !== r || parts.p !== p
    },
  }
}

/**
 * @param {string} stored
 * @returns {Parts | undefined}
 */
function parse(stored) {
  const match =
    /^scrypt\$(\d{1,10})\$(\d{1,4})\$(\d{1,4})\$([A-Za-z0-9_-]{8,128})\$([A-Za-z0-9_-]{22,128})$/.exec(
      stored,
    )
  if (!match) return undefined
  const [N = 0, r = 0, p = 0] = match.slice(1, 4).map(Number)
  const isPowerOfTwo = N > 1 && (N & (N - 1)) === 0
  if (!isPowerOfTwo || r < 1 || p < 1 || 128 * N * r > MAX_MEMORY || N * r * p > MAX_WORK)
    return undefined
  return { N, r, p, salt: decode(match[4] ?? ''), hash: decode(match[5] ?? '') }
}

/**
 * Compares without stopping at the first difference.
 *
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 */
function same(a, b) {
  let difference = a.length ^ b.length
  for (let at = 0; at < b.length; at += 1) difference |= (a[at] ?? 0) ^ (b[at] ?? 0)
  return difference === 0
}

/** @param {Uint8Array} bytes */
function encode(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '')
}

/** @param {string} text */
function decode(text) {
  const binary = atob(
    text
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .slice(0, text.length - (text.length % 4 === 1 ? 1 : 0)),
  )
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}
