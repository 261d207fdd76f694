/**
 * How long signed links open what they lead to, at any moment of any clock.
 */

import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { links } from '../../../adapters/files/links.ts'
import { s3Files } from '../../../adapters/files/s3.ts'
import type { ServedObject } from '../../../adapters/files/serving.ts'
import { FileForbidden } from '../../../src/ports/index.ts'

const DAY = 24 * 60 * 60
const WEEK = 7 * DAY

const moment = fc.integer({ min: 1.7e12, max: 1.9e12 })
const seconds = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: WEEK }))
const steady = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: WEEK }))

/** The links of a store in which every key has a private file, at the time that `clock` says. */
function linksAt(clock: { readonly at: number }) {
  const about = { contentType: 'image/png', contentDisposition: 'inline', acl: 'private' } as const
  const read = async () => undefined
  const found: ServedObject = { ...about, size: 1, etag: '"1"', storedAt: 0, read }
  const options = { secret: 'x'.repeat(32), now: () => clock.at }
  return links('test', options, async () => found)
}

it('a link of the app opens for as long as was asked, and for the steady time more at most', async () => {
  const clock = { at: 0 }
  const own = linksAt(clock)
  const url = own.urlOf('files/1-a.png')
  const opens = (link: string, at: number) => {
    clock.at = at
    const asked = new Request(new URL(link, 'http://localhost'), { method: 'HEAD' })
    return own.serve(asked).then(
      (response) => response?.status === 200,
      (error: unknown) => {
        if (!(error instanceof FileForbidden)) throw error
        return false
      },
    )
  }
  const lasts = async (now: number, asked: number, same: number) => {
    clock.at = now
    const link = await own.signedUrl(url, asked, same)
    const until = now + asked * 1000
    expect(await opens(link, until - 1)).toBe(true)
    expect(await opens(link, until + Math.max(1, same) * 1000)).toBe(false)
  }
  await fc.assert(fc.asyncProperty(moment, seconds, steady, lasts))
  await lasts(1_700_000_000_999, 1, 0)
  await lasts(1_700_000_000_999, 0.5, 0)
})

it('a link to S3 opens for as long as was asked, and never says more than the seven days that S3 takes', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const place = { endpoint: 'https://s3.example.com', bucket: 'b', accessKeyId: 'k' }
  const files = s3Files({ ...place, secretAccessKey: 's' })
  const url = files.urlOf('files/1-a.png')
  const lasts = async (now: number, asked: number, same: number) => {
    vi.setSystemTime(now)
    const { searchParams } = new URL(await files.signedUrl(url, asked, same))
    const date = searchParams.get('X-Amz-Date') ?? ''
    const iso = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
    const expires = Number(searchParams.get('X-Amz-Expires'))
    expect(Date.parse(iso)).toBeLessThanOrEqual(now)
    expect(expires).toBeLessThanOrEqual(WEEK)
    // A link of seven days begins at a whole second.
    const lost = asked === WEEK ? 1000 : 0
    expect(Date.parse(iso) + expires * 1000).toBeGreaterThanOrEqual(now + asked * 1000 - lost)
  }
  await fc.assert(fc.asyncProperty(moment, seconds, steady, lasts))
  await lasts(1_700_000_000_999, WEEK, WEEK / 2)
  await lasts(1_700_000_000_999, 5 * DAY, 2.5 * DAY)
  await expect(files.signedUrl(url, WEEK + 1)).rejects.toThrow('604800 seconds at most')
})

it.each([
  ['minio:9000', 'b', "'endpoint' must be a URL, with https:// or http://"],
  ['https://s3.example.com/b', 'b', "'endpoint' must be the server's URL, without the bucket"],
  ['https://s3.example.com/?x=1', 'b', "'endpoint' must be the server's URL, without the bucket"],
  ['https://p.fra1.digitaloceanspaces.com', 'p', "'endpoint' must be the server's URL, without"],
  ['https://p.fsn1.your-objectstorage.com', 'p', "'endpoint' must be the server's URL, without"],
  ['https://p.s3.eu-west-1.amazonaws.com', 'p', "'endpoint' must be the server's URL, without"],
  ['https://s3.example.com', 'b/photos', "'bucket' must be the name of a bucket"],
])('files would be at no place that can be listed: %s, %s', (endpoint, bucket, told) => {
  const keys = { accessKeyId: 'k', secretAccessKey: 's' }
  expect(() => s3Files({ endpoint, bucket, ...keys })).toThrow(`s3Files: ${told}`)
  const [path, host] = ['https://b.example.com/storage/v1/s3', 'http://b']
  for (const right of [path, host]) s3Files({ endpoint: right, bucket: 'b', ...keys })
  s3Files({ endpoint: 'https://fra1.digitaloceanspaces.com', bucket: 'fra1', ...keys })
  s3Files({ endpoint: 'https://s3.eu-west-1.amazonaws.com', bucket: 'eu-west-1', ...keys })
})

it('a link is the same for the time that was asked', async () => {
  const clock = { at: 1_700_000_000_000 }
  const own = linksAt(clock)
  const made = new Set<string>()
  for (; clock.at < 1_700_000_600_000; clock.at += 10_000) {
    made.add(await own.signedUrl(own.urlOf('files/1-a.png'), 600, 300))
  }
  expect(made.size).toBeLessThanOrEqual(3)
})
