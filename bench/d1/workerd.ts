/**
 * workerd on this machine, by miniflare.
 *
 * @module
 */

import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

/** Starts a bundled Worker, or one that is never asked, whose binding `DB` is the D1 database in `folder`. */
export function workerd(folder: string, bundle?: string): Miniflare {
  return new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      ...(bundle === undefined
        ? { script: 'export default { fetch: () => new Response() }' }
        : { scriptPath: bundle }),
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      host: '127.0.0.1',
      port: 0,
      d1Databases: ['DB'],
      resourcePersistencePath: folder,
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  )
}
