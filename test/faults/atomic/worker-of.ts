/**
 * Workers in this process's workerd.
 *
 * @module
 */

import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { bundled } from '../../http/workerd.ts'

/** Workerd with a Worker that has a D1 database, `DB`, or a class of Durable Objects, `Api`, at `API`. */
export async function workerOf(server: 'd1' | 'durable', script: URL): Promise<Miniflare> {
  return new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundled(script),
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      ...(server === 'd1'
        ? { d1Databases: ['DB'] }
        : { durableObjects: { API: { className: 'Api', useSQLite: true } } }),
    }),
  )
}
