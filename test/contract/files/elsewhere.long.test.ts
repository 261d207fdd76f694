/**
 * The contract of file stores in Deno and Bun: a folder, and S3 through the AWS SDK.
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { fileContract } from '../../../extras/contract/index.ts'
import { FROM_SOURCE } from '../../runtimes/commands.ts'
import { withService } from '../../services/shared.ts'

const suite = fileURLToPath(new URL('elsewhere.ts', import.meta.url))
const bin = fileURLToPath(new URL('../../../node_modules/.bin/', import.meta.url))
const runtimes = { Deno: ['deno', 'run', FROM_SOURCE, '-A', '--quiet'], Bun: ['bun', FROM_SOURCE] }
const NO_ACL = 'a public-read object opens for everybody'

type Results = Record<'disk' | 's3', Record<string, string | null>>

await withService('seaweed', (place) => {
  const env = {
    ...process.env,
    S3_ENDPOINT: place.url,
    S3_SPACES_KEY: place.accessKeyId,
    S3_SPACES_SECRET: place.secretAccessKey,
    S3_BUCKET_NAME: place.bucket,
    S3_REGION: place.region,
  }
  for (const [runtime, [command = '', ...args]] of Object.entries(runtimes)) {
    describe(`file stores on ${runtime}`, async () => {
      const run = promisify(execFile)(`${bin}${command}`, [...args, suite], { env })
      const { stdout } = await run
      const results = JSON.parse(stdout) as Results
      for (const sentence of Object.keys(fileContract)) {
        it(`a folder: ${sentence}`, () => expect(results.disk[sentence]).toBeNull())
        // SeaweedFS opens whole buckets to the public, not single objects.
        if (sentence === NO_ACL) continue
        it(`S3: ${sentence}`, () => expect(results.s3[sentence]).toBeNull())
      }
    })
  }
})
