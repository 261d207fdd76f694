/** The stored form of a password hash, and which parameters are accepted. */

import { base64url, bytesIn, sameText } from '../../src/http/base64url.ts'
import type { Hasher } from '../../src/ports/services/hasher.ts'

/** The cost of a hash, and the bytes of memory that computing it may take. */
export interface Cost {
  readonly N: number
  readonly r: number
  readonly p: number
  readonly maxmem: number
}

/** A scrypt function, as `promisify` makes it of Node's. */
export type Derive = (
  plain: string,
  salt: Uint8Array,
  length: number,
  cost: Cost,
) => Promise<Uint8Array>

interface Parts extends Omit<Cost, 'maxmem'> {
  readonly salt: Uint8Array
  readonly hash: Uint8Array
}

/** The parameters of new hashes: 16 MiB and about 80 ms, chosen for machines of 128 MiB (OWASP, scrypt). */
const { N, r, p } = { N: 16384, r: 8, p: 5 }

const SALT_BYTES = 16
const HASH_BYTES = 32

// A record may hold hashes from other software; one that needs more memory than this is not computed.
const MAX_MEMORY = 256 * 1024 * 1024
const MAX_WORK = 2 ** 26
/** OpenSSL counts a little more than the tables. */
const maxmem = 2 * MAX_MEMORY

/** The hasher that uses a scrypt function. */
export function hasherOver(derive: Derive): Hasher {
  return {
    async hash(plain) {
      const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
      const hash = await derive(plain, salt, HASH_BYTES, { N, r, p, maxmem })
      return `scrypt$${N}$${r}$${p}$${base64url(salt)}$${base64url(hash)}`
    },
    async verify(plain, stored) {
      const parts = parse(stored)
      // Same time for a string in no known format: hash all the same.
      const { hash, salt, ...cost } = parts ?? {
        ...{ N, r, p },
        salt: new Uint8Array(SALT_BYTES),
        hash: new Uint8Array(HASH_BYTES),
      }
      const computed = await derive(plain, salt, hash.length, { ...cost, maxmem })
      return sameText(base64url(computed), base64url(hash)) && parts !== undefined
    },
    needsRehash: (stored) => !stored.startsWith(`scrypt$${N}$${r}$${p}$`) || !FORM.test(stored),
  }
}

const FORM =
  /^scrypt\$(\d{1,10})\$(\d{1,4})\$(\d{1,4})\$([A-Za-z0-9_-]{8,128})\$([A-Za-z0-9_-]{22,128})$/

function parse(stored: string): Parts | undefined {
  const match = FORM.exec(stored)
  if (!match) return undefined
  const [N = 0, r = 0, p = 0] = match.slice(1, 4).map(Number)
  const isPowerOfTwo = N > 1 && (N & (N - 1)) === 0
  if (!isPowerOfTwo || r < 1 || p < 1 || 128 * r * (N + p) > MAX_MEMORY || N * r * p > MAX_WORK)
    return undefined
  const [salt, hash] = [bytesIn(match[4] ?? ''), bytesIn(match[5] ?? '')]
  return salt && hash && { N, r, p, salt, hash }
}
