/**
 * The contract of file stores, asked of a worker.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { fileContract } from '../../../extras/contract/index.ts'

/** Starts workerd with the cases in it, for all promises: they may share a store. */
export async function startWorker(
  bindings: Record<string, Record<string, string>>,
): Promise<Miniflare> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['fieldgate-source', 'workerd'],
    external: ['node:*'],
  })
  return new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]?.text ?? '',
      compatibilityDate: '2026-01-01',
      compatibilityFlags: ['nodejs_compat'],
      r2Buckets: ['FILES'],
      bindings,
    }),
  )
}

/** Each sentence of the contract, kept inside the worker. */
export const remote = Object.fromEntries(
  Object.keys(fileContract).map((sentence) => [
    sentence,
    async ({ worker, store }: Remote) => {
      const body = JSON.stringify([sentence, store])
      const answer = await worker.dispatchFetch('http://localhost/', { method: 'POST', body })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
    },
  ]),
) as Record<keyof typeof fileContract, (remote: Remote) => Promise<void>>

/** A store inside a worker. */
export interface Remote {
  readonly worker: Miniflare
  readonly store: 'r2' | 's3'
}
