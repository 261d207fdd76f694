/**
 * The contract in whatever runtime runs this file: `deno run -A elsewhere.ts`, `bun elsewhere.ts`. Prints a JSON
 * object: store → sentence → why it was broken, or null.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { s3Files } from '../../../adapters/files/s3.ts'
import { fileContract, type OpenFiles } from '../../../extras/contract/index.ts'
import { served } from './served.ts'

const root = await mkdtemp(join(tmpdir(), 'fieldgate-disk-'))

function disk(): OpenFiles {
  let passed = 0
  const secret = 'a secret of at least thirty-two characters'
  const files = diskFiles({ root, secret, now: () => Date.now() + passed })
  return {
    files,
    get: served(files),
    pass(seconds) {
      passed += seconds * 1000
    },
  }
}

function s3(): OpenFiles {
  return { files: s3Files(), get: (url, headers = {}) => fetch(url, { headers }) }
}

async function broken(open: () => OpenFiles): Promise<Record<string, string | null>> {
  const results: Record<string, string | null> = {}
  for (const [sentence, check] of Object.entries(fileContract)) {
    const subject = open()
    results[sentence] = await check(subject).then(
      () => null,
      (error: unknown) => String((error as Error)?.stack ?? error),
    )
    await subject.files.close?.()
  }
  return results
}

const results = { disk: await broken(disk), s3: await broken(s3) }
await rm(root, { recursive: true })
console.log(JSON.stringify(results))
