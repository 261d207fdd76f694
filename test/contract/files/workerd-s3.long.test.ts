/**
 * The contract of file stores inside workerd: S3 through aws4fetch.
 */

import { afterAll, describe, it } from 'vitest'
import { verify } from '../../../extras/contract/index.ts'
import { withService } from '../../services/shared.ts'
import { type Remote, remote, startWorker } from './remote.ts'

await withService('seaweed', async (place) => {
  const S3 = {
    S3_ENDPOINT: place.url,
    S3_SPACES_KEY: place.accessKeyId,
    S3_SPACES_SECRET: place.secretAccessKey,
    S3_BUCKET_NAME: place.bucket,
    S3_REGION: place.region,
  }
  const worker = await startWorker({ S3 })
  afterAll(() => worker.dispose())
  verify(
    'SeaweedFS through aws4fetch inside workerd',
    remote,
    {
      open: (): Remote => ({ worker, store: 's3' }),
      without: {
        'a public-read object opens for everybody':
          'SeaweedFS opens whole buckets to the public, not single objects',
      },
    },
    { describe, it },
  )
})
