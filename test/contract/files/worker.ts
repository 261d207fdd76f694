/**
 * The contract inside workerd: each request runs one case on the store that it names.
 *
 * @module
 */

import { type R2Binding, r2Files } from '../../../adapters/files/r2.ts'
import { s3Files } from '../../../adapters/files/s3-workerd.ts'
import { fileContract, type OpenFiles } from '../../../extras/contract/index.ts'
import { served } from './served.ts'

interface Env {
  readonly FILES: R2Binding
  readonly S3: Readonly<Record<string, string>>
}

function r2(bucket: R2Binding): OpenFiles {
  let passed = 0
  const secret = 'a secret of at least thirty-two characters'
  const files = r2Files(bucket, { secret, now: () => Date.now() + passed })
  return {
    files,
    pass(seconds) {
      passed += seconds * 1000
    },
    get: served(files),
  }
}

function s3(env: Readonly<Record<string, string>>): OpenFiles {
  return { files: s3Files({ env }), get: (url, headers = {}) => fetch(url, { headers }) }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [sentence = '', store] = (await request.json()) as [string, string]
    const check = (fileContract as Record<string, (subject: OpenFiles) => Promise<void>>)[sentence]
    try {
      await check?.(store === 'r2' ? r2(env.FILES) : s3(env.S3))
      return new Response('kept')
    } catch (error) {
      return new Response(String((error as Error)?.stack ?? error), { status: 500 })
    }
  },
}
