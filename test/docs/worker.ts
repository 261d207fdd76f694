/**
 * Runs a program for Cloudflare Workers in workerd, with the bindings that its `Env` names.
 *
 * @module
 */

import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import type { Running } from './process.ts'

/** Bundles and starts a Worker. */
export async function startWorker(file: string, text: string): Promise<Running> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
  })
  const typed = (type: string) =>
    [...text.matchAll(new RegExp(`\\b(\\w+): ${type}\\b`, 'g'))].map(([, name = '']) => name)
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-11-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: typed('D1Binding'),
      r2Buckets: typed('R2Binding'),
      ...(text.includes('appObject') && {
        durableObjects: { API: { className: 'Api', useSQLite: true } },
      }),
      bindings: Object.fromEntries(
        typed('string').map((name) => [name, `for-this-test-only-${name}-0123456789abcdef`]),
      ),
      host: '127.0.0.1',
      port: 0,
    }),
  )
  const { origin } = await miniflare.ready
  return {
    base: origin,
    stop: async () => {
      const { status } = await fetch(origin)
      await miniflare.dispose()
      return status < 500 ? undefined : `the Worker responds with ${status}`
    },
  }
}
