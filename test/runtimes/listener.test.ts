import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { toExpress } from '../../adapters/runtimes/express.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp } from '../../src/index.ts'

it('finds the path of its mount where a server only keeps the URL as it was sent', async () => {
  const app = createApp({ store: sqliteStore() }).get('/who', (_, context) => ({
    basePath: context.basePath,
  }))
  const listener = toExpress(app)
  // As connect does, and so Vite's server, polka and Fastify with middie.
  const server = createServer((request: IncomingMessage & { originalUrl?: string }, response) => {
    request.originalUrl = request.url ?? ''
    request.url = request.url?.replace(/^\/(?:api|docs)(?=\/)/, '') ?? ''
    listener(request, response, () => void response.writeHead(404).end('{}'))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const at = async (path: string) =>
    (await fetch(url + path, { headers: { Connection: 'close' } })).json()
  expect(await at('/api/who?x=1')).toMatchObject({ data: { basePath: '/api' } })
  expect(await at('/who')).toMatchObject({ data: { basePath: '' } })
  expect(await at('/docs/api/who')).toEqual({})
  await app.close()
})

it('a server that has read the body before is told so, and its client gets the envelope', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const app = createApp({ store: sqliteStore() })
  app.post('/things', () => 'never')
  const listener = toExpress(app)
  const server = createServer(async (request, response) => {
    await text(request)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/things`
  const headers = { 'Content-Type': 'application/json', Connection: 'close' }
  const response = await fetch(url, { method: 'POST', headers, body: '{}' })
  const requestId = response.headers.get('x-request-id')
  const envelope = { success: false, error: 'Internal Server Error', requestId }
  expect([response.status, await response.json()]).toEqual([500, envelope])
  const why = expect.objectContaining({ message: expect.stringContaining('has read the body') })
  expect(logged.mock.calls).toEqual([[requestId, why]])
  logged.mockRestore()
})

it('begins a request when those before it on its connection have their responses, and none whose client has gone', async () => {
  const log: string[] = []
  const app = createApp({ store: sqliteStore() })
  app.get('/slow', async ({ signal }) => {
    log.push('slow')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    log.push('aborted')
  })
  app.get('/next', () => void log.push('next'))
  const server = createServer(toExpress(app)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const client = connect(port, '127.0.0.1')
  client.write(get('/slow') + get('/next'))
  await expect.poll(() => log).toContain('slow')
  const next = () => fetch(`http://127.0.0.1:${port}/next`, { headers: { Connection: 'close' } })
  await next()
  client.destroy()
  await expect.poll(() => log).toContain('aborted')
  await next()
  expect(log).toEqual(['slow', 'next', 'aborted', 'next'])
})

it('a TRACE whose body a parser has read is a method that is not there', async () => {
  const app = createApp({ store: sqliteStore() }).get('/things', () => [])
  const listener = toExpress(app)
  const server = createServer(async (request: IncomingMessage & { body?: unknown }, response) => {
    request.body = JSON.parse(await text(request))
    listener(request, response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const headers = { 'Content-Type': 'application/json', 'Content-Length': 2 }
  const asked = request({ port, path: '/things', method: 'TRACE', headers }).end('{}')
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET, HEAD'])
  await text(response)
})

it.each([
  ['a value', () => 'late'],
  ['a response', () => Response.json('late')],
  [
    'a stream',
    () => new Response(new ReadableStream({ start: (source) => source.enqueue('late') })),
  ],
])('%s that comes after the response of another middleware is dropped', async (_, make) => {
  const app = createApp({ store: sqliteStore() }).get('/things', make)
  await app.ready()
  const listener = toExpress(app)
  const server = createServer((request, response) => {
    listener(request, response)
    // Begins before the end of this turn of the event loop, and ends after it.
    setImmediate(() => {
      response.write('ano')
      setImmediate(() => response.end('ther'))
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/things`
  const response = await fetch(url, { headers: { Connection: 'close' } })
  expect(await response.text()).toBe('another')
  await app.close()
})
