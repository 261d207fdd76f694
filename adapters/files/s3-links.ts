/**
 * Presigned links to S3 objects: made without asking the server.
 *
 * @module
 */

import { AwsClient } from 'aws4fetch'
import { begin } from './links.ts'
import type { S3Place } from './s3-options.ts'

/** A client that signs requests to `place`, and retries none by itself. */
export function signer(place: S3Place): AwsClient {
  const { accessKeyId, secretAccessKey, region } = place
  return new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 })
}

/** AWS refuses longer ones: seven days. */
const LONGEST = 7 * 24 * 60 * 60

/** A GET link to the object at `url`, as `FileStore.signedUrl` promises it. */
export async function presigned(
  place: S3Place,
  url: string,
  seconds: number,
  steady = 0,
): Promise<string> {
  const key = place.keyOf(url)
  if (key === undefined) throw new TypeError('s3Files: not a URL of this store')
  const expires = Math.min(seconds + steady, LONGEST)
  const target = `${place.urlOf(key)}?X-Amz-Expires=${expires}`
  const from = new Date(begin(Date.now(), steady)).toISOString()
  const datetime = from.replace(/[:-]|\.\d+/g, '')
  return (await signer(place).sign(target, { aws: { signQuery: true, datetime } })).url
}
