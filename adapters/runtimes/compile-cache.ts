/** Node's compile cache, where the deployer has switched it on. */

import module from 'node:module'

/**
 * Writes what Node has compiled so far to its compile cache, if that is on. Node itself writes when the process ends by
 * itself, and so never on a platform that kills it.
 */
export function flushCompileCache(): void {
  // Deno and Bun can import this, and have no such cache.
  if (module.getCompileCacheDir?.() !== undefined) module.flushCompileCache()
}
