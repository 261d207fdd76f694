/**
 * What an isolate of Workers keeps of requests that have ended: their promises never settle, and their timers never fire.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it, onTestFinished } from 'vitest'
import { bundled } from '../http/workerd.ts'

/** Upstash's REST protocol over a map, of which a test can leave commands without an answer. */
async function restCache() {
  const kept = new Map<string, string>()
  const cache = { url: '', delayMs: 0, mute: (_command: string, _value: string): boolean => false }
  const run = ([command = '', key = '', value = '']: readonly string[]) => {
    if (command.toLowerCase() === 'get') return { result: kept.get(key) ?? null }
    kept.set(key, value)
    return { result: 'OK' }
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const asked = JSON.parse(text) as string[] | string[][]
    const commands = (Array.isArray(asked[0]) ? asked : [asked]) as string[][]
    if (commands.some(([name = '', , value = '']) => cache.mute(name, value))) return
    await wait(cache.delayMs)
    const results = commands.map(run)
    response.end(JSON.stringify(asked === commands ? results : results[0]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  cache.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return cache
}

/** Passes requests on, and leaves those with the header after as many milliseconds: workerd notices at once, as Cloudflare does. */
const FRONT = `export default { async fetch(request, { API }) {
  const ms = request.headers.get('leave')
  if (ms === null) return API.fetch(request)
  const leaving = new AbortController()
  setTimeout(() => leaving.abort(), Number(ms))
  return API.fetch(new Request(request, { signal: leaving.signal })).catch(() => new Response('left'))
} }`

async function started(LIMIT_MS = 1500) {
  const cache = await restCache()
  const common = { modules: true, compatibilityDate: '2026-11-01' }
  const api = {
    ...{ ...common, name: 'api', compatibilityFlags: ['nodejs_compat'] },
    script: await bundled(new URL('outlived-worker.ts', import.meta.url)),
    ...{ d1Databases: ['DB'], r2Buckets: ['FILES'], bindings: { CACHE_URL: cache.url, LIMIT_MS } },
  }
  const front = { ...common, name: 'front', script: FRONT, serviceBindings: { API: 'api' } }
  const miniflare = new Miniflare(convertV4MiniflareOptions({ workers: [front, api] }))
  onTestFinished(() => miniflare.dispose())
  const ask = async (path: string, init: object = {}) =>
    miniflare.dispatchFetch(`http://localhost${path}`, init)
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    ask(path, {
      ...{ method: 'POST', body: JSON.stringify(body) },
      headers: { 'content-type': 'application/json', ...headers },
    })
  const status = async (response: ReturnType<typeof send>) => {
    const made = await response
    await made.text()
    return made.status
  }
  /** What the response to a list says of the cache. */
  const xCache = async () => {
    const response = await ask('/books')
    await response.text()
    return response.headers.get('x-cache')
  }
  const stop = (at: string, ms = 0) => ask(`/stop?at=${encodeURIComponent(at)}&ms=${ms}`)
  return { cache, ask, send, status, xCache, stop, later: (ms: number) => ask(`/later?ms=${ms}`) }
}

it('a write that has ended keeps the cache off for a minute at most', async () => {
  const { send, status, xCache, stop, later } = await started()
  expect(await status(send('/books', { title: 'a' }))).toBe(201)
  await stop('INSERT INTO "books')
  expect(await status(send('/books', { title: 'b' }))).toBe(503)
  expect(await xCache()).toBe('MISS')
  expect(await xCache()).toBe('MISS')
  await later(61_000)
  await expect.poll(xCache).toBe('HIT')
})

it('one late answer of the cache to a read turns it off for no other read', async () => {
  const { cache, ask, xCache } = await started()
  // Starts the app.
  await (await ask('/orders')).text()
  cache.mute = (command, value) => command.toLowerCase() === 'set' && value.startsWith('v')
  // So the request has its response before the new version's time is over.
  cache.delayMs = 250
  expect(await xCache()).toBe(null)
  cache.mute = () => false
  cache.delayMs = 0
  await wait(500)
  await expect.poll(xCache).toBe('HIT')
})

it('a write that ends while it asks whether the cache is back leaves that to others', async () => {
  const { cache, send, status, xCache, stop } = await started()
  expect(await status(send('/books', { title: 'a' }))).toBe(201)
  expect(await xCache()).toBe('MISS')
  cache.mute = () => true
  expect(await xCache()).toBe(null)
  await stop('INSERT INTO "books', 900)
  expect(await status(send('/books', { title: 'b' }))).toBe(503)
  cache.mute = () => false
  await wait(700)
  expect(await status(send('/books', { title: 'c' }))).toBe(201)
  expect(await xCache()).not.toBe(null)
})

it('live lists whose clients left before they began make room for others', async () => {
  const { ask, stop, later } = await started()
  const accept = { accept: 'text/event-stream' }
  await (await ask('/books')).text()
  for (const _ of [1, 2]) {
    await stop('fieldgate_change_log', 300)
    expect(await (await ask('/books', { headers: { ...accept, leave: '100' } })).text()).toBe(
      'left',
    )
    await wait(500)
  }
  await later(70_000)
  const stream = await ask('/books', { headers: accept })
  expect(stream.status).toBe(200)
  await stream.body?.cancel()
})

it('an order that was written by a request that has ended is the response to its repetition', async () => {
  const { send, status, stop, later } = await started()
  const again = () => send('/orders', { item: 'tea' }, { 'idempotency-key': 'one' })
  await stop('INSERT INTO "orders')
  expect(await status(again())).toBe(503)
  expect(await status(again())).toBe(409)
  await later(61_000)
  const response = await again()
  expect(response.headers.get('idempotency-replayed')).toBe('true')
  expect(await response.json()).toMatchObject({ data: { item: 'tea' } })
})

it.each(['common passwords', 'hash'])('passwords can be set after %s had ended one', async (at) => {
  const { ask, send, status, stop, later } = await started()
  const register = (name: string) =>
    send('/auth/register', { email: `${name}@example.com`, password: 'correct horse battery' })
  await (await ask('/books')).text()
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    await stop(at)
    await status(register(name))
  }
  await stop('nothing')
  await later(21_000)
  expect(await status(register('last'))).toBe(201)
})

it('all who wait for what a request loads load it themselves when that has ended', async () => {
  const { ask, send, status, stop } = await started()
  const register = (name: string) =>
    status(
      send('/auth/register', { email: `${name}@example.com`, password: 'correct horse battery' }),
    )
  await (await ask('/books')).text()
  await stop('common passwords')
  const first = register('a')
  await wait(600)
  const others = ['b', 'c', 'd'].map(register)
  expect(await first).toBe(503)
  expect(await Promise.all(others)).toEqual([201, 201, 201])
})

it('images that come at the same time are all made smaller, and later ones too', async () => {
  const { ask } = await started(20_000)
  const { png } = await import('../uploads/png.ts')
  const upload = async (title: string) => {
    const body = new FormData()
    body.append('title', title)
    body.append('image', new File([png], 'a.png', { type: 'image/png' }))
    const sent = new Request('http://localhost/photos', { method: 'POST', body })
    const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
    const bytes = new Uint8Array(await sent.arrayBuffer())
    const made = await ask('/photos', { method: 'POST', body: bytes, headers })
    const { data } = (await made.json()) as { data: { image: string } }
    return (await (await ask(data.image)).arrayBuffer()).byteLength
  }
  const smaller = png.length - 1
  expect(await Promise.all(['a', 'b', 'c'].map(upload))).toEqual([smaller, smaller, smaller])
  expect(await upload('d')).toBe(smaller)
})
