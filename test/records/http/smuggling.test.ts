import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { serve } from '../../../adapters/runtimes/node.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('SmuggledThing', { fields: { name: z.string() } })

/** A server on a port of its own, and what its app sees. */
async function things() {
  const { app } = service()
  const seen: string[] = []
  app.use(({ method, url }) => void seen.push(`${method} ${new URL(url).pathname}`))
  app.mount('/things', createRouter({ model: Thing, query: ['name'], allowedFields: ['name'] }))
  const server = await serve(app, { port: 0 })
  onTestFinished(() => server.close())
  return { app, seen, port: Number(new URL(server.url).port) }
}

/** Writes `bytes` to a connection of its own and resolves to the statuses that come back until it is closed. */
async function statusesOf(port: number, bytes: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += text
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status)
}

const HIDDEN = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
const BODY = '{"name":"a"}'
const post = (headers: string, body: string) =>
  `POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n${body}`

describe('security, smuggled requests: what one request is', () => {
  test.each([
    [
      'Content-Length and Transfer-Encoding',
      post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    ],
    [
      'Transfer-Encoding and Content-Length',
      post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${HIDDEN}`),
    ],
    ['two different Content-Lengths', post('Content-Length: 0\r\nContent-Length: 40\r\n', HIDDEN)],
    ['a list of Content-Lengths', post('Content-Length: 0, 40\r\n', HIDDEN)],
    ['a signed Content-Length', post('Content-Length: +0\r\n', HIDDEN)],
    ['a space before the colon', post('Content-Length : 0\r\n', HIDDEN)],
    ['an unknown Transfer-Encoding', post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${HIDDEN}`)],
    [
      'chunked, but not last',
      post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${HIDDEN}`),
    ],
    [
      'a folded header',
      post('Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${HIDDEN}`),
    ],
    ['bare line feeds', post('', '').replaceAll('\r\n', '\n') + HIDDEN],
    ['a chunk size that is none', post('Transfer-Encoding: chunked\r\n', `zz\r\n\r\n${HIDDEN}`)],
    [
      'a chunk extension that ends in a bare line feed',
      post('Transfer-Encoding: chunked\r\n', `5;a\nabcde\r\n0\r\n\r\n${HIDDEN}`),
    ],
    [
      'a chunk that is longer than it says',
      post('Transfer-Encoding: chunked\r\n', `2\r\n${BODY}\r\n0\r\n\r\n${HIDDEN}`),
    ],
  ])('%s is refused, and what follows is no request', async (_, bytes) => {
    const { port, seen, app } = await things()
    expect(await statusesOf(port, bytes)).toEqual(['400'])
    expect(seen).not.toContain('GET /smuggled')
    expect(await app.store.collection(Thing).count()).toBe(0)
  })

  test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT'])(
    'the body of a %s is its body, not a request',
    async (method) => {
      const { port, seen } = await things()
      const first = `${method} /things HTTP/1.1\r\nHost: x\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`
      const statuses = await statusesOf(
        port,
        `${first}GET /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      )
      expect(seen).toEqual([`${method} /things`, 'GET /things'])
      expect(statuses).toHaveLength(2)
    },
  )

  test('chunks with extensions and trailers make one body; pipelined requests are answered in order', async () => {
    const { port, seen, app } = await things()
    const chunked = post(
      'Transfer-Encoding: chunked\r\n',
      `6;a=b\r\n${BODY.slice(0, 6)}\r\n6\r\n${BODY.slice(6)}\r\n0\r\nX-Trailer: y\r\n\r\n`,
    )
    const query = `QUERY /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
    const last = 'PUT /things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    expect(await statusesOf(port, chunked + query + last)).toEqual(['201', '200', '405'])
    expect(seen).toEqual(['POST /things', 'QUERY /things', 'PUT /things'])
    expect(await app.store.collection(Thing).find()).toMatchObject([{ name: 'a' }])
  })
})
