/**
 * Bodies on Node, in whatever pieces they arrive and however they are read.
 *
 * @module
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel, type Handler, HttpError } from '../../src/index.ts'

const Thing = defineModel('BodyThing', { fields: { name: z.string() } })
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** Serves `handler` at `POST /things/read`; returns the URL of the server. */
async function serving(handler: Handler): Promise<URL> {
  const app = createApp({ store: sqliteStore(), logger: quiet, maxBodySize: 2 ** 30 })
  const router = createRouter({ model: Thing, middlewares: [], allowedFields: ['name'] })
  app.mount('/things', router.post('/read', handler))
  const server = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  onTestFinished(() => server.close())
  return new URL('/things/read', server.url)
}

/** Opens a connection and sends the head of a POST with a body of `length` bytes. */
async function posting({ port, pathname }: URL, length: number): Promise<Socket> {
  const socket = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.setNoDelay()
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  )
  return socket
}

test('a body that arrives byte by byte is read whole', async () => {
  const url = await serving(async (request) => Response.json(await request.json()))
  const sent = Buffer.from('{"name":"Zoë 🏙️"}')
  const socket = await posting(url, sent.length)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  for (const byte of sent) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
  await expect.poll(() => answer).toContain('{"name":"Zoë 🏙️"}')
})

test('a body is read once, and says so', async () => {
  const url = await serving(async (request) => {
    const before = request.bodyUsed
    const first = await request.text()
    const again = await request.text().catch((error: Error) => error.name)
    return Response.json([before, first, request.bodyUsed, again])
  })
  const response = await fetch(url, { method: 'POST', body: 'hello' })
  expect(await response.json()).toEqual([false, 'hello', true, 'TypeError'])
})

test('a body may be copied before it is read', async () => {
  const url = await serving(async (request) => {
    const copy = request.clone()
    return Response.json([await request.text(), await copy.text()])
  })
  const response = await fetch(url, { method: 'POST', body: 'hello' })
  expect(await response.json()).toEqual(['hello', 'hello'])
})

test('a client that leaves in the middle of its body fails the read alone', async () => {
  const { promise: failure, resolve } = Promise.withResolvers<unknown>()
  const url = await serving(async (request) => {
    await request.json().catch(resolve)
    return new Response()
  })
  const socket = await posting(url, 100)
  await new Promise((sent) => socket.write('{"name":', sent))
  socket.destroy()
  expect(await failure).toMatchObject({ status: 400 })
  expect((await fetch(new URL('/things', url))).status).toBe(200)
})

test.each([true, false])(
  'a client that sends all of a body before it reads has the refusal (begun: %s), and nothing more is run',
  async (isBegun) => {
    let calls = 0
    const url = await serving(async ({ body }) => {
      calls += 1
      if (isBegun) await body?.getReader().read()
      throw new HttpError(413, 'Too much.')
    })
    // More than the kernel holds for both.
    const chunk = Buffer.alloc(1024 * 1024)
    const count = 24
    const socket = await posting(url, count * chunk.length)
    let answer = ''
    socket.on('data', (part) => {
      answer += part
    })
    socket.pause()
    for (let sent = 0; sent < count; sent += 1)
      await new Promise((resolve) => socket.write(chunk, resolve))
    socket.write(`POST ${url.pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
    socket.resume()
    if (!socket.readableEnded) await once(socket, 'end')
    expect([answer.match(/HTTP\/1\.1 \d+/g), calls]).toEqual([['HTTP/1.1 413'], 1])
  },
)
