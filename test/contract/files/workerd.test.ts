/**
 * The contract of file stores inside workerd: R2, and S3 through aws4fetch.
 */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { describe, it } from 'vitest'
import { fileContract, verify } from '../../../src/contract/index.ts'
import { withService } from '../../services/shared.ts'

async function startWorker(bindings: Record<string, Record<string, string>>): Promise<Miniflare> {
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
const remote = Object.fromEntries(
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

interface Remote {
  readonly worker: Miniflare
  readonly store: 'r2' | 's3'
}

const close = ({ worker }: Remote) => worker.dispose()

verify(
  'R2 inside workerd',
  remote,
  {
    open: async () => ({ worker: await startWorker({}), store: 'r2' as const }),
    close,
  },
  { describe, it },
)

await withService('seaweed', (place) => {
  const S3 = {
    S3_ENDPOINT: place.url,
    S3_SPACES_KEY: place.accessKeyId,
    S3_SPACES_SECRET: place.secretAccessKey,
    S3_BUCKET_NAME: place.bucket,
    S3_REGION: place.region,
  }
  verify(
    'SeaweedFS through aws4fetch inside workerd',
    remote,
    {
      open: async () => ({ worker: await startWorker({ S3 }), store: 's3' as const }),
      close,
      without: {
        'a public-read object opens for everybody':
          'SeaweedFS opens whole buckets to the public, not single objects',
      },
    },
    { describe, it },
  )
})
