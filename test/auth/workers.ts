/**
 * Workers of the tests: a module bundled as for deployment, in workerd, with a D1 database.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

/** Starts the Worker of the module at `entry`. */
export async function startWorker(entry: URL): Promise<Miniflare> {
  const bundle = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['fieldgate-source', 'workerd'],
    external: ['node:*'],
    logLevel: 'error',
  })
  return new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: bundle.outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-01-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: ['DB'],
    }),
  )
}
