import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { s3Files as onNode } from '../../../adapters/files/s3.ts'
import { s3Files as onWorkers } from '../../../adapters/files/s3-workerd.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'

const PAGE = `<ListBucketResult><IsTruncated>true</IsTruncated>
<Contents><Key>files/1.png</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>
<NextContinuationToken>same</NextContinuationToken></ListBucketResult>`

it.each([
  ['the SDK', onNode],
  ['fetch', onWorkers],
])('a list by %s ends at a server that knows no continuation tokens', async (_, s3Files) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/xml' }).end(PAGE)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const files = s3Files({ endpoint, bucket: 'b', accessKeyId: 'k', secretAccessKey: 's' })
  onTestFinished(async () => {
    await files.close?.()
    server.closeAllConnections()
    server.close()
  })
  const keys: string[] = []
  for await (const { key } of files.list('files/')) if (keys.push(key) > 5) break
  expect(keys).toEqual(['files/1.png', 'files/1.png'])
})

it.each([
  ['the SDK', onNode],
  ['fetch', onWorkers],
])(
  'temporary credentials sign requests by %s and links with their session token',
  async (_, s3Files) => {
    const tokens: unknown[] = []
    const server = createServer(({ headers }, response) => {
      tokens.push(headers['x-amz-security-token'])
      response.writeHead(204).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const keys = { accessKeyId: 'k', secretAccessKey: 's' }
    const lasting = s3Files({ endpoint, bucket: 'b', ...keys, env: {} })
    const files = s3Files({ endpoint, bucket: 'b', ...keys, env: { S3_SESSION_TOKEN: 'short' } })
    let asked = 0
    const credentials = async () => {
      asked += 1
      return { ...keys, sessionToken: String(asked) }
    }
    const renewed = s3Files({ endpoint, bucket: 'b', credentials, env: {} })
    onTestFinished(async () => {
      await Promise.all([files, lasting, renewed].map((one) => one.close?.()))
      server.closeAllConnections()
      server.close()
    })
    const url = files.urlOf('files/1.png')
    await files.delete('files/1.png')
    await lasting.delete('files/1.png')
    await renewed.delete('files/1.png')
    await renewed.delete('files/1.png')
    const [first, second] = tokens.splice(2)
    expect(tokens).toEqual(['short', undefined])
    expect(Number(second)).toBeGreaterThan(Number(first))
    expect(await renewed.signedUrl(url, 60)).toContain(`X-Amz-Security-Token=${asked}`)
    const refusing = () => Promise.reject(new Error('no role'))
    const keyless = s3Files({ endpoint, bucket: 'b', credentials: refusing, env: {} })
    // A read is then a 503, as is an upload.
    await expect(keyless.signedUrl(url, 60)).rejects.toThrow(StoreUnavailable)
    expect(await files.signedUrl(url, 60)).toContain('X-Amz-Security-Token=short')
    expect(await lasting.signedUrl(url, 60)).not.toContain('Security-Token')
  },
)
