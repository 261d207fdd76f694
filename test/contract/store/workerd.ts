/**
 * The store contract inside workerd: on a real D1 database, or in the storage of a Durable Object.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'

/** What each worker is given. */
const BINDINGS = {
  'd1-worker': { d1Databases: ['DB'] },
  'durable-worker': {
    durableObjects: { CASES: { className: 'Cases', useSQLite: true } },
  },
}

/** Starts workerd with the cases in it; `ask` runs one, and throws what it threw. */
export async function startWorkerd(worker: keyof typeof BINDINGS): Promise<{
  ask(path: string): Promise<string>
  stop(): Promise<void>
}> {
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL(`./${worker}.ts`, import.meta.url))],
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
      ...BINDINGS[worker],
    }),
  )
  return {
    async ask(path) {
      const answer = await workerd.dispatchFetch(`http://store/${encodeURIComponent(path)}`)
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return text
    },
    stop: () => workerd.dispose(),
  }
}
