/**
 * Password hashing with the runtime's own scrypt (`node:crypto`), off the main thread: Node, Deno, Bun, workerd.
 *
 * @module
 */

import { scrypt } from 'node:crypto'
import type { Hasher } from '../../src/ports/hasher.ts'
import { hasherOver } from './format.ts'
import { nativeSlots } from './slots.ts'

/** Hashes passwords as `scrypt$16384$8$5$<salt>$<hash>`; also verifies hashes with other parameters. */
export const hasher: Hasher = hasherOver(
  (plain, salt, { N, r, p, length }) =>
    new Promise((resolve, reject) => {
      // OpenSSL counts a little more than the 128 * N * r bytes of the table.
      scrypt(plain, salt, length, { N, r, p, maxmem: 256 * N * r + 1024 * r * p }, (error, hash) =>
        error ? reject(error) : resolve(hash),
      )
    }),
)

/** How many hashes may be computed at once. */
export const slots: () => number = nativeSlots
