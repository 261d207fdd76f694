/**
 * The contract of file stores: an S3 server, through the AWS SDK and through aws4fetch.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { s3Files as s3FilesOnWorkers } from '../../../adapters/files/s3-workerd.ts'
import { type OpenFiles, verify } from '../../../extras/contract/index.ts'
import { withService } from '../../services/shared.ts'
import { contractInShort } from './in-short.ts'
import { verifyLife } from './life.ts'
import { strict } from './strict.ts'

const adapters = { 'the AWS SDK': s3Files, aws4fetch: s3FilesOnWorkers }

const get: OpenFiles['get'] = (url, headers = {}) => fetch(url, { headers })
const close = ({ files }: OpenFiles) => files.close?.()

await withService('seaweed', ({ url: endpoint, ...place }) => {
  for (const [by, open] of Object.entries(adapters)) {
    verify(
      `SeaweedFS through ${by}`,
      contractInShort,
      {
        open: () => ({ files: open({ endpoint, ...place }), get }),
        close,
        without: {
          'a public-read object opens for everybody':
            'SeaweedFS opens whole buckets to the public, not single objects',
        },
      },
      { describe, it },
    )

    verifyLife(`SeaweedFS through ${by}`, {
      open: () => open({ endpoint, ...place }),
      place: { url: endpoint, ...place },
      opensSingleObjects: false,
    })

    it.each([
      ['a bucket that is not there', { bucket: 'no-such-bucket' }],
      ['a wrong secret', { secretAccessKey: 'wrong' }],
      ['a server that is not there', { endpoint: 'http://127.0.0.1:9' }],
    ])(`ping through ${by} rejects for %s`, async (_, wrong) => {
      const files = open({ endpoint, ...place, ...wrong })
      onTestFinished(() => files.close?.())
      await expect(files.ping?.()).rejects.toThrow()
    })

    it(`ping through ${by} takes no for an answer where the bucket may not be listed`, async () => {
      const refusing = createServer((_request, response) => {
        response.writeHead(403, { 'Content-Type': 'application/xml' })
        response.end('<Error><Code>AccessDenied</Code><Message>No.</Message></Error>')
      })
      onTestFinished(() => void refusing.close())
      await once(refusing.listen(0, '127.0.0.1'), 'listening')
      const { port } = refusing.address() as AddressInfo
      const files = open({ ...place, endpoint: `http://127.0.0.1:${port}` })
      onTestFinished(() => files.close?.())
      await files.ping?.()
    })

    it(`a server that refuses checksum headers gets none through ${by}`, async () => {
      const server = await strict(endpoint)
      onTestFinished(() => server.stop())
      const files = open({ ...place, endpoint: server.url })
      onTestFinished(() => files.close?.())
      const body = new Response('streamed').body as ReadableStream<Uint8Array>
      const meta = {
        contentType: 'image/png',
        contentDisposition: 'inline',
        acl: 'private',
      } as const
      const key = `strict/${crypto.randomUUID()}.png`
      await files.put(key, body, { ...meta, size: 8 })
      await files.put(key, new TextEncoder().encode('in one'), { ...meta, size: 6 })
      const link = await files.signedUrl(files.urlOf(key), 60)
      expect(await (await fetch(link)).text()).toBe('in one')
      for await (const listed of files.list('strict/')) expect(listed.key).toBe(key)
      await files.delete(key)
      expect(server.refused).toEqual([])
    })
  }
})

const COMPLETE = {
  S3_ENDPOINT: 'https://s3.example.com/',
  S3_SPACES_KEY: 'key',
  S3_SPACES_SECRET: 'secret',
  S3_BUCKET_NAME: 'bucket',
}

for (const [by, open] of Object.entries(adapters)) {
  it(`an S3 store through ${by} is not ready if a sign-in page responds`, async () => {
    const server = createServer((_, response) => void response.end('<title>Welcome</title>'))
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const files = open({ env: COMPLETE, endpoint })
    onTestFinished(() => files.close?.())
    await expect(files.ping?.()).rejects.toThrow('no S3 server')
  })

  it(`an S3 store through ${by} is told its place by the environment, and says what is missing`, () => {
    const files = open({ env: COMPLETE })
    expect(files.urlOf('files/1-a.png')).toBe('https://s3.example.com/bucket/files/1-a.png')
    for (const variable of ['S3_SPACES_KEY', 'S3_SPACES_SECRET', 'S3_BUCKET_NAME']) {
      expect(() => open({ env: { ...COMPLETE, [variable]: undefined } })).toThrow(variable)
    }
    const { S3_ENDPOINT, ...aws } = COMPLETE
    expect(open({ env: { ...aws, S3_REGION: 'eu-west-1' } }).urlOf('a')).toBe(
      'https://s3.eu-west-1.amazonaws.com/bucket/a',
    )
    expect(open({ env: { ...COMPLETE, S3_ENDPOINT: '', S3_REGION: '' } }).urlOf('a')).toBe(
      'https://s3.us-east-1.amazonaws.com/bucket/a',
    )
    expect(() => open({ env: COMPLETE, endpoint: 'nowhere' })).toThrow(`'endpoint'`)
  })
}
