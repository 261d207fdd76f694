/**
 * Presigned links to S3 objects: made without asking the server.
 *
 * @module
 */

import { AwsClient } from 'aws4fetch'
import type { S3Place } from './s3-options.ts'

/** A client that signs requests to `place`, and retries none by itself. */
export function signer(place: S3Place): AwsClient {
  const { accessKeyId, secretAccessKey, region } = place
  return new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 })
}

/** A GET link to the object at `url` that is valid for `seconds`. */
export async function presigned(place: S3Place, url: string, seconds: number): Promise<string> {
  const key = place.keyOf(url)
  if (key === undefined) throw new TypeError('s3Files: not a URL of this store')
  const target = `${place.urlOf(key)}?X-Amz-Expires=${seconds}`
  return (await signer(place).sign(target, { aws: { signQuery: true } })).url
}
