/**
 * How many native hashes may be computed at once.
 *
 * @module
 */

/** What libuv starts with, unless UV_THREADPOOL_SIZE says otherwise; more than 1,024 it does not take. */
const POOL = 4
const MAX_POOL = 1024
/** Where the runtime does not tell. */
const CORES = 2

/**
 * As many as there are cores, and one less than libuv has threads: files, names of hosts and zlib take turns on them
 * too, and would wait behind every sign-in.
 */
export function nativeSlots(): number {
  const cores = globalThis.navigator?.hardwareConcurrency || CORES
  return Math.max(1, Math.min(cores, poolSize() - 1))
}

function poolSize(): number {
  const size = variable('UV_THREADPOOL_SIZE')
  if (size === undefined || size === '') return POOL
  return Math.min(Math.max(1, Number.parseInt(size, 10) || 1), MAX_POOL)
}

function variable(name: string): string | undefined {
  try {
    return globalThis.process?.env?.[name]
  } catch {
    // Deno asks for a permission.
    return undefined
  }
}
