/**
 * Password hashing in plain JavaScript (`@noble/hashes`), for runtimes without native scrypt. Other work can run
 * between its steps.
 *
 * @module
 */

import { scryptAsync } from '@noble/hashes/scrypt.js'
import type { Hasher } from '../../src/ports/services/hasher.ts'
import { hasherOver } from './format.ts'

const utf8 = new TextEncoder()

/** Hashes passwords as `scrypt$16384$8$5$<salt>$<hash>`; also verifies hashes with other parameters. */
export const hasher: Hasher = hasherOver((plain, salt, dkLen, { N, r, p }) =>
  scryptAsync(utf8.encode(plain), salt, { N, r, p, dkLen }),
)

/** How many hashes may be computed at once: on one thread, more would only take memory. */
export function slots(): number {
  return 1
}
