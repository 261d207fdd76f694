/**
 * The store contract inside workerd, on a real D1 database.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

/** Starts workerd with the cases in it; `ask` runs one, and throws what it threw. */
export async function startD1(): Promise<{
  ask(path: string): Promise<string>
  stop(): Promise<void>
}> {
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL('./d1-worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['fieldgate-source', 'workerd'],
    external: ['node:*'],
    // The contract's types alone come from there.
    logLevel: 'error',
  })
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: bundle.outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-01-01',
      compatibilityFlags: ['nodejs_compat'],
      d1Databases: ['DB'],
    }),
  )
  return {
    async ask(path) {
      const answer = await workerd.dispatchFetch(`http://d1/${encodeURIComponent(path)}`)
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return text
    },
    stop: () => workerd.dispose(),
  }
}
