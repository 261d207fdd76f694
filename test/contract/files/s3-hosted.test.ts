/** What services with the protocol of S3 differ in: stand-ins that behave as their manuals and users say. */

import { createHash } from 'node:crypto'
import dns, { type LookupOptions } from 'node:dns'
import { once } from 'node:events'
import {
  createServer,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { s3Files } from '../../../adapters/files/s3.ts'
import { s3Files as s3FilesOnWorkers } from '../../../adapters/files/s3-workerd.ts'
import { album } from '../../uploads/album.ts'

const place = { bucket: 'atlas', accessKeyId: 'key', secretAccessKey: 'secret' }
const meta = { contentType: 'image/png', contentDisposition: 'inline', acl: 'private' } as const
const LARGE = new Uint8Array(3 * 1024 * 1024)

describe.each([
  ['the AWS SDK', s3Files],
  ['aws4fetch', s3FilesOnWorkers],
])('files in S3 through %s', (_, open) => {
  it("are stored where nothing answers 'Expect: 100-continue'", async () => {
    const server = createServer(storing())
    server.on('checkContinue', (_, response) => void response.writeHead(417).end())
    const files = open({ ...place, endpoint: await listening(server) })
    onTestFinished(() => files.close?.())
    const url = await files.put('a.png', LARGE, { ...meta, size: LARGE.length })
    expect(files.keyOf(url)).toBe('a.png')
  })

  it('are sent once more if the server failed inside, and not if it has too much to do', async () => {
    const store = storing()
    const answers = ['InternalError', undefined, 'SlowDown', 'InternalError', 'ServiceUnavailable']
    const server = createServer((request, response) => {
      const code = request.method === 'PUT' ? answers.shift() : undefined
      if (code === undefined) return store(request, response)
      request
        .resume()
        .once('end', () => response.writeHead(503).end(`<Error><Code>${code}</Code></Error>`))
    })
    const files = open({ ...place, endpoint: await listening(server) })
    onTestFinished(() => files.close?.())
    expect(await uploaded(files)).toBe(201)
    expect(await uploaded(files)).toBe(503)
    expect(await uploaded(files)).toBe(503)
    expect(answers).toEqual([])
  })

  it('have their bucket in the name of the host, for a server that refuses it in the path', async () => {
    vi.spyOn(dns, 'lookup').mockImplementation(((...given: unknown[]) => {
      const [, options, answer] = given as [string, LookupOptions, (...found: unknown[]) => void]
      if (options.all) answer(null, [{ address: '127.0.0.1', family: 4 }])
      else answer(null, '127.0.0.1', 4)
    }) as never)
    onTestFinished(() => void vi.restoreAllMocks())
    const store = storing()
    const server = createServer((request, response) => {
      if (request.headers.host?.startsWith('atlas.')) return store(request, response)
      response.writeHead(403).end('<Error><Code>SecondLevelDomainForbidden</Code></Error>')
    })
    const endpoint = (await listening(server)).replace('127.0.0.1', 's3.example.com')
    const files = open({ ...place, endpoint, pathStyle: false })
    onTestFinished(() => files.close?.())
    const url = await files.put('a/b.png', LARGE, { ...meta, size: LARGE.length })
    expect(url).toBe(`${endpoint.replace('s3.', 'atlas.s3.')}/a/b.png`)
    expect(files.keyOf(await files.signedUrl(url, 60))).toBe('a/b.png')
    expect((await fetch(await files.signedUrl(url, 60), { method: 'HEAD' })).status).toBe(200)
    const listed: string[] = []
    for await (const { key } of files.list('a/')) listed.push(key)
    expect(listed).toEqual(['a/b.png'])
  })
})

it('files in S3 are sent once more if the connection is gone', async () => {
  const store = storing()
  const known = new WeakSet<object>()
  const server = createServer((request, response) => {
    // A connection of before: the server has forgotten it while the process was frozen.
    const { socket, method } = request
    if (method === 'PUT' && known.has(socket)) socket.resetAndDestroy()
    else store(request, response)
    known.add(socket)
  })
  const files = s3Files({ ...place, endpoint: await listening(server) })
  onTestFinished(() => files.close?.())
  expect([await uploaded(files), await uploaded(files)]).toEqual([201, 201])
})

async function uploaded(files: ReturnType<typeof s3Files>): Promise<number> {
  const { upload } = album({ files })
  const form = new FormData()
  form.append('title', 'Delft')
  form.append('image', new File([PNG], 'dot.png'))
  return (await upload('POST', '/photos', form)).status
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

async function listening(server: Server): Promise<string> {
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Keeps what is sent, by its path. */
function storing(): RequestListener {
  const kept = new Map<string, OutgoingHttpHeaders>()
  const answers: Record<string, (path: string, body: Buffer) => [OutgoingHttpHeaders, string?]> = {
    PUT(path, body) {
      const etag = `"${createHash('md5').update(body).digest('hex')}"`
      kept.set(path, { etag, 'content-length': body.length })
      return [{ etag }]
    },
    HEAD: (path) => [kept.get(path) ?? {}],
    GET() {
      const keys = [...kept.keys()].map((path) => path.slice(1))
      const list = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')
      return [{}, `<ListBucketResult>${list}</ListBucketResult>`]
    },
  }
  return async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://s3')
    const chunks: Buffer[] = await request.toArray()
    const [headers = {}, text] =
      answers[`${request.method}`]?.(pathname, Buffer.concat(chunks)) ?? []
    response.writeHead(200, headers).end(text)
  }
}
