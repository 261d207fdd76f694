/**
 * The black-box suite's server on workerd: bundled as wrangler would, run by miniflare with a real D1.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import type { Running } from './runtimes.ts'

/** Bundles a module for workerd. */
export async function bundled(entry: URL, minify = false): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    minify,
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

/** Starts the atlas on workerd. */
export async function startWorkerd(): Promise<Running> {
  const script = await bundled(new URL('./servers/worker.ts', import.meta.url))
  const begun = performance.now()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script,
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: ['DB'],
      host: '127.0.0.1',
      port: 0,
    }),
  )
  const base = (await miniflare.ready).origin
  return { base, startedInMs: performance.now() - begun, stop: () => miniflare.dispose() }
}
