/**
 * Password hashing with the runtime's own scrypt (`node:crypto`), off the main thread: Node, Deno, Bun, workerd.
 *
 * @module
 */

import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Hasher } from '../../src/ports/services/hasher.ts'
import { hasherOver } from './format.ts'

/** Hashes passwords as `scrypt$16384$8$5$<salt>$<hash>`; also verifies hashes with other parameters. */
export const hasher: Hasher = hasherOver(promisify(scrypt))

/** The number of libuv threads, unless UV_THREADPOOL_SIZE says otherwise; it has at most 1,024. */
const POOL = 4
const MAX_POOL = 1024
/** If the runtime does not tell. */
const CORES = 2

/** How many hashes may be computed at once: one per core, but a thread of libuv stays for files, DNS and zlib. */
export function slots(): number {
  const cores = globalThis.navigator?.hardwareConcurrency || CORES
  return Math.max(1, Math.min(cores, poolSize() - 1))
}

function poolSize(): number {
  try {
    const size = globalThis.process?.env?.UV_THREADPOOL_SIZE
    if (size) return Math.min(Math.max(1, Number.parseInt(size, 10) || 1), MAX_POOL)
  } catch {
    // Deno requires a permission for this.
  }
  return POOL
}
