/**
 * The contract of file stores: a second S3 server, through the AWS SDK and through aws4fetch.
 */

import { afterAll, describe, it } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { s3Files as s3FilesOnWorkers } from '../../../adapters/files/s3-workerd.ts'
import { type OpenFiles, verify } from '../../../extras/contract/index.ts'
import { contractInShort } from './in-short.ts'
import { verifyLife } from './life.ts'
import { moto } from './moto.ts'

const adapters = { 'the AWS SDK': s3Files, aws4fetch: s3FilesOnWorkers }

const get: OpenFiles['get'] = (url, headers = {}) => fetch(url, { headers })
const close = ({ files }: OpenFiles) => files.close?.()

describe('the second server', async () => {
  const { url: endpoint, stop, ...place } = await moto()
  afterAll(stop)
  const unsigned = 'moto checks no signature'
  for (const [by, open] of Object.entries(adapters)) {
    verify(
      `moto through ${by}`,
      contractInShort,
      {
        open: () => ({ files: open({ endpoint, ...place }), get }),
        close,
        without: {
          'a forged link does not open, and a link opens no other object': unsigned,
          'a signed link expires': unsigned,
        },
      },
      { describe, it },
    )

    verifyLife(`moto through ${by}`, {
      open: () => open({ endpoint, ...place }),
      place: { url: endpoint, ...place },
      opensSingleObjects: true,
    })
  }
})
