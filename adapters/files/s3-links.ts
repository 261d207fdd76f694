/** Presigned links to S3 objects: made without a request to the server. */

import { AwsClient } from 'aws4fetch'
import type { FileStore } from '../../src/ports/services/files.ts'
import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { lifetime } from './links.ts'
import type { S3Place } from './s3-options.ts'

/** What a day's signatures are made with: four sums less for each. */
const dayKeys = new Map<string, ArrayBuffer>()

/** Signs a request to `place`. */
export async function sign(
  { credentials, region }: S3Place,
  ...request: Parameters<AwsClient['sign']>
): Promise<Request> {
  // Where a role's keys come from may be out, as any other service.
  const keys = await (async () => credentials())().catch((cause: unknown) => {
    throw new StoreUnavailable('there are no credentials for S3', { cause })
  })
  // Each day has others, and so have credentials that were renewed.
  if (dayKeys.size > 100) dayKeys.clear()
  return new AwsClient({ ...keys, region, service: 's3', cache: dayKeys }).sign(...request)
}

/** AWS refuses longer ones: seven days. */
const MAX_LINK_SECONDS = 7 * 24 * 60 * 60

export function s3Links(place: S3Place): Pick<FileStore, 'urlOf' | 'keyOf' | 'signedUrl'> {
  const { urlOf, keyOf } = place
  return {
    urlOf,
    keyOf,
    async signedUrl(url, seconds, steady = 0) {
      const key = keyOf(url)
      if (key === undefined) throw new TypeError('s3Files: not a URL of this store')
      if (seconds > MAX_LINK_SECONDS)
        throw new TypeError(`s3Files: a link lasts ${MAX_LINK_SECONDS} seconds at most`)
      // It lasts as long as promised; it is the same only for the rest of the seven days.
      const same = Math.min(steady, MAX_LINK_SECONDS - seconds)
      const { from, lasts } = lifetime(Date.now(), seconds, same)
      const target = `${urlOf(key)}?X-Amz-Expires=${Math.min(lasts, MAX_LINK_SECONDS)}`
      const datetime = new Date(from * 1000).toISOString().replace(/[:-]|\.\d+/g, '')
      return (await sign(place, target, { aws: { signQuery: true, datetime } })).url
    },
  }
}
