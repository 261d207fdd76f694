/**
 * Many objects and bytes on an S3 server, through the AWS SDK and through aws4fetch.
 */

import { describe, it } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { s3Files as s3FilesOnWorkers } from '../../../adapters/files/s3-workerd.ts'
import { verify } from '../../../extras/contract/index.ts'
import { withService } from '../../services/shared.ts'
import { muchAtOnce } from './in-short.ts'

const adapters = { 'the AWS SDK': s3Files, aws4fetch: s3FilesOnWorkers }

await withService('seaweed', ({ url: endpoint, ...place }) => {
  for (const [by, open] of Object.entries(adapters)) {
    verify(
      `SeaweedFS through ${by}`,
      muchAtOnce,
      {
        open: () => ({
          files: open({ endpoint, ...place }),
          get: (url, headers = {}) => fetch(url, { headers }),
        }),
        close: ({ files }) => files.close?.(),
      },
      { describe, it },
    )
  }
})
