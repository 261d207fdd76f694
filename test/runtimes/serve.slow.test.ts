import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FROM_SOURCE } from './commands.ts'
import { raw, received, rejected, start } from './server.ts'

import { serving } from './serving.ts'

serving('node')

describe('serve on node', () => {
  it('ends requests that come too slowly, with the envelope', async () => {
    const { url } = await start('node', { headersTimeout: 500, requestTimeout: 1000 })
    const headers = received(raw(url, 'GET /echo HTTP/1.1\r\nHost: x\r\n'))
    const body = received(
      raw(url, 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc'),
    )
    for (const text of await Promise.all([headers, body])) {
      expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
      expectEnvelope(text, 'Request Timeout.')
    }
  })

  it.skipIf(process.platform !== 'linux')('goes on if its log cannot be written', async () => {
    const code = `import { createApp } from 'fieldgate'
      import { serve } from 'fieldgate/node'
      import { sqliteStore } from 'fieldgate/sqlite'
      const app = createApp({ store: sqliteStore() })
      console.error((await serve(app, { port: 0, hostname: '127.0.0.1' })).url)`
    const args = [FROM_SOURCE, '--no-warnings', '--input-type=module', '-e', code]
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const server = spawn(process.execPath, args, { stdio: ['ignore', full, 'pipe'] })
    onTestFinished(() => void server.kill('SIGKILL'))
    const [url] = await once(server.stderr as Readable, 'data')
    for (let times = 0; times < 3; times += 1) {
      // Each is logged as refused.
      expect((await fetch(String(url).trim())).status).toBe(404)
    }
  })

  it('takes a limit for sending in milliseconds', async () => {
    const why = `'sendTimeout' must be a whole number of milliseconds, or 0 for no limit`
    expect(await rejected('node', { sendTimeout: '30s' })).toBe(`TypeError: serve: ${why}`)
  })

  it('takes a limit for the whole request that is below that for the headers', async () => {
    const { url } = await start('node', { requestTimeout: 500 })
    expect(await received(raw(url, 'GET /echo HTTP/1.1\r\n'))).toMatch(/^HTTP\/1\.1 408 /)
    const why = `'headersTimeout' must be a whole number of milliseconds, or 0 for no limit`
    expect(await rejected('node', { headersTimeout: -1 })).toBe(`TypeError: serve: ${why}`)
  })

  it.each([
    ['what is no HTTP', 'nonsense\r\n\r\n', 400, 'Bad Request.'],
    [
      'a URL as curl and PHP send it',
      'GET /echo?name=Köln HTTP/1.1\r\nHost: x\r\n\r\n',
      400,
      'The URL has characters that must be percent-encoded.',
    ],
    [
      'headers that are too long',
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large.',
    ],
    ['HTTP/1.1 without a Host', 'GET /echo HTTP/1.1\r\n\r\n', 400, 'A Host header is required.'],
    ['HTTP/0.9', 'GET /echo\r\n\r\n', 505, 'HTTP Version Not Supported.'],
    [
      'HTTP/2 without its frames',
      'GET /echo HTTP/2.0\r\nHost: x\r\n\r\n',
      505,
      'HTTP Version Not Supported.',
    ],
    [
      'chunks in HTTP/1.0',
      'POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      400,
      'HTTP/1.0 has no Transfer-Encoding.',
    ],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'Not found.'],
  ])('answers %s with the envelope, and ends the connection', async (_, bytes, status, error) => {
    const { url } = await start('node')
    const text = await received(raw(url, bytes))
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
    expectEnvelope(text, error)
    const old = await received(raw(url, 'GET /echo HTTP/1.0\r\n\r\n'))
    expect(old).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each([
    ['what is no HTTP', 'nonsense\r\n\r\n'],
    ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])(
    'responds to the requests before %s, which may have written, then refuses that, and ends',
    async (_, bytes) => {
      const { url } = await start('node')
      const request = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc'
      const text = await received(raw(url, request + request + bytes))
      const [, first, second, last, ...more] = text.split('HTTP/1.1 ')
      for (const response of [first, second]) {
        expect(response).toMatch(/^200 /)
        expect(response).toContain('"body":"abc"')
      }
      expect(last).toMatch(/^4\d\d /)
      expect(last).toMatch(/\r\nconnection: close\r\n/i)
      expect(more).toEqual([])
    },
  )

  it('reads little of a body that the app refused, and keeps the connection after a short one', async () => {
    const { url } = await start('node')
    const client = raw(
      url,
      'POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n',
    )
    const chunk = Buffer.alloc(64 * 1024)
    const send = () => {
      while (client.writable && client.write(chunk));
    }
    client.on('drain', send)
    send()
    expect(await received(client)).toMatch(/^HTTP\/1\.1 413 /)
    // What the kernel's buffers hold is sent, but not read.
    expect(client.bytesWritten).toBeLessThan(12 * 1024 * 1024)

    const short = 'POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n'
    const both = await received(raw(url, `${short}\r\nabc${short}Connection: close\r\n\r\nabc`))
    expect(both.match(/HTTP\/1\.1 413 /g)).toHaveLength(2)
  })
})

/** That an answer ends with the envelope of `error`, and has its request id in the headers too. */
function expectEnvelope(text: string, error: string): void {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const requestId = /\r\nx-request-id: ([\da-f-]{36})(?:\r\n|$)/i.exec(head)?.[1]
  expect(JSON.parse(body)).toEqual({ success: false, error, requestId: requestId ?? 'missing' })
}
