/** Presigned links to S3 objects: made without a request to the server. */

import { AwsClient } from 'aws4fetch'
import { lifetime } from './links.ts'
import type { S3Place } from './s3-options.ts'

/** A client that signs requests to `place` and never retries. */
export function signer(place: S3Place): AwsClient {
  const { accessKeyId, secretAccessKey, region } = place
  return new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 })
}

/** AWS refuses longer ones: seven days. */
const MAX_LINK_SECONDS = 7 * 24 * 60 * 60

/** A GET link to the object at `url`, as `FileStore.signedUrl` promises, for at most seven days. */
export async function presigned(
  place: S3Place,
  url: string,
  seconds: number,
  steady = 0,
): Promise<string> {
  const key = place.keyOf(url)
  if (key === undefined) throw new TypeError('s3Files: not a URL of this store')
  if (seconds > MAX_LINK_SECONDS)
    throw new TypeError(`s3Files: a link lasts ${MAX_LINK_SECONDS} seconds at most`)
  // It lasts as long as promised; it is the same only for the rest of the seven days.
  const { from, lasts } = lifetime(
    Date.now(),
    seconds,
    Math.min(steady, MAX_LINK_SECONDS - seconds),
  )
  const target = `${place.urlOf(key)}?X-Amz-Expires=${Math.min(lasts, MAX_LINK_SECONDS)}`
  const datetime = new Date(from * 1000).toISOString().replace(/[:-]|\.\d+/g, '')
  return (await signer(place).sign(target, { aws: { signQuery: true, datetime } })).url
}
