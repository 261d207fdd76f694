import { setTimeout as later } from 'node:timers/promises'
import * as zlib from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { batch } from '../../src/batch/index.ts'
import { compress, cors, secureHeaders } from '../../src/guards/index.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'

const Country = defineModel('CompressedCountry', { fields: { name: z.string() } })

const decoders = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
}

/** The contents of a response, out of its coding. */
async function contentsOf(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const coding = response.headers.get('content-encoding') as keyof typeof decoders | null
  return (coding === null ? bytes : decoders[coding](bytes)).toString()
}

async function countries() {
  const app = createApp({ store: sqliteStore() }).use(secureHeaders()).use(compress())
  app.use(cors({ origins: ['http://x'] }))
  onTestFinished(() => app.close())
  const options = { model: Country, allowedFields: ['name'] as const, middlewares: [] }
  app.mount('/countries', createRouter({ ...options, exportLimit: 10_000, maxLimit: 500 }))
  app.mount('/batch', batch())
  const long = 'word '.repeat(1000)
  app.get('/made', ({ query }) => {
    const { kind = 'text/plain', length = '5000', ...more } = query as Record<string, string>
    const text = long.slice(0, Number(length))
    const pieces = () =>
      new ReadableStream({
        start(controller) {
          for (const piece of text.match(/.{5}/g) ?? []) controller.enqueue(Buffer.from(piece))
          controller.close()
        },
      })
    return new Response(kind === 'text/x-pieces' ? pieces() : text, {
      status: Number(more.status ?? 200),
      headers: { 'Content-Type': kind, ...(more.name && { [more.name]: more.value ?? '' }) },
    })
  })
  for (let at = 0; at < 250; at += 1) {
    await app.store.collection(Country).insert({ name: `Country ${at}` })
  }
  const ask = (path: string, coding?: string, init: RequestInit = {}) =>
    app.handle(
      new Request(`http://localhost${path}`, {
        ...init,
        headers: { ...init.headers, ...(coding !== undefined && { 'Accept-Encoding': coding }) },
      }),
    )
  return { app, ask }
}

const LIST = '/countries?limit=500'
const codingOf = ({ headers }: Response) => headers.get('content-encoding')
const tagOf = ({ headers }: Response) => headers.get('etag') ?? ''

describe('compress', () => {
  it.each(['gzip', 'br', 'zstd'])('sends what %s makes of the contents', async (coding) => {
    const { ask } = await countries()
    const plain = await ask(LIST)
    const made = await ask(LIST, coding)
    expect([codingOf(plain), codingOf(made)]).toEqual([null, coding])
    for (const { headers } of [plain, made]) {
      expect(headers.get('vary')).toBe('Accept, Accept-Encoding, Origin')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect(made.headers.get('content-length')).toBe(null)
    const text = await plain.text()
    const bytes = await made.clone().arrayBuffer()
    expect(bytes.byteLength).toBeLessThan(text.length / 4)
    expect(await contentsOf(made)).toBe(text)
  })

  it.each([
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, br', 'br'],
    ['br;q=0.5, GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip;q=0.001, identity;q=0', 'gzip'],
    ['*;q=0.1, zstd;q=0, br;q=0', 'gzip'],
    ['gzip;q=0', null],
    ['gzip ; q=0.000 , br; q=0', null],
    ['gzip;q=0.5, identity', null],
    ['*;q=0', null],
    ['gzip;q=none', null],
    ['gzip;q=2', null],
    ['deflate, compress', null],
    ['identity', null],
    ['', null],
    ['notgzip, gzipped', null],
  ])("reads '%s' as %s", async (accepted, coding) => {
    const { ask } = await countries()
    expect(codingOf(await ask('/made', accepted))).toBe(coding)
  })

  it.each([
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
  ])(
    "on Workers, where Cloudflare asks for both, goes by the client's '%s'",
    async (own, coding) => {
      const { app } = await countries()
      const headers = { 'Accept-Encoding': 'br, gzip' }
      const request = new Request('http://localhost/made', { headers })
      Object.defineProperty(request, 'cf', { value: { clientAcceptEncoding: own } })
      expect(codingOf(await app.handle(request))).toBe(coding)
    },
  )

  it('leaves the length of plain contents, however long they are', async () => {
    const { app } = await countries()
    const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
    onTestFinished(close)
    const headers = { 'Accept-Encoding': 'identity' }
    const response = await fetch(`${url}${LIST}`, { headers })
    const { byteLength } = await response.arrayBuffer()
    expect(response.headers.get('content-length')).toBe(String(byteLength))
  })

  it('leaves short contents plain, unless the client refuses them plain', async () => {
    const { ask } = await countries()
    const codings = async (length: number, accepted: string) =>
      codingOf(await ask(`/made?length=${length}`, accepted))
    expect(await codings(1023, 'gzip')).toBe(null)
    expect(await codings(1024, 'gzip')).toBe('gzip')
    expect(await codings(10, 'gzip, identity;q=0')).toBe('gzip')
    expect(await codings(0, 'gzip')).toBe(null)
    expect(codingOf(await ask('/countries/none', 'gzip'))).toBe(null)
    const pieces = await ask('/made?kind=text/x-pieces&length=10', 'gzip')
    expect([codingOf(pieces), await pieces.text()]).toEqual([null, 'word word '])
    const short = await ask('/made?length=1023', 'gzip')
    expect([short.headers.get('content-length'), (await short.text()).length]).toEqual([
      '1023',
      1023,
    ])
  })

  it.each([
    ['kind=text/event-stream', false],
    ['kind=image/png', false],
    ['kind=application/zip', false],
    ['kind=image/svg%2Bxml', true],
    ['kind=application/problem%2Bjson', true],
    ['kind=application/json;charset=utf-8', true],
    ['name=Cache-Control&value=public, no-transform', false],
    ['name=Cache-Control&value=public', true],
    ['name=Content-Encoding&value=br', false],
    ['name=Content-Range&value=bytes 0-9/10&status=206', false],
    ['name=Accept-Ranges&value=bytes', false],
    ['status=206', false],
    ['status=404', true],
    ['name=Content-Length&value=5000', true],
  ])('compresses a response with %s: %s', async (query, isCompressed) => {
    const { ask } = await countries()
    const response = await ask(`/made?${query}`, 'gzip')
    expect(codingOf(response) === 'gzip').toBe(isCompressed)
    if (isCompressed) expect(response.headers.get('content-length')).toBe(null)
    else expect((await response.text()).length).toBe(5000)
  })

  it('leaves alone what a guard says must not be changed', async () => {
    const app = createApp({ store: sqliteStore() }).use(compress())
    onTestFinished(() => app.close())
    app.use((_, { headers }) => headers.set('Cache-Control', 'no-transform'))
    app.get('/made', () => 'x'.repeat(2000))
    const headers = { 'Accept-Encoding': 'gzip' }
    expect(codingOf(await app.handle(new Request('http://x/made', { headers })))).toBe(null)
  })

  it('gives each coding a tag of its own, with which conditional requests work', async () => {
    const { app, ask } = await countries()
    const [plain, made] = [await ask(LIST), await ask(LIST, 'gzip')]
    const [tag, coded] = [tagOf(plain), tagOf(made)]
    expect(coded).toBe(`${tag.slice(0, -1)}+gzip"`)
    for (const known of [tag, coded, `W/${coded}`, `"other", ${coded}`]) {
      const same = await ask(LIST, 'gzip', { headers: { 'If-None-Match': known } })
      expect([known, same.status, await same.text()]).toEqual([known, 304, ''])
      expect(same.headers.get('vary')).toContain('Accept-Encoding')
      expect(tagOf(same)).toBe(known === tag ? tag : coded)
    }
    const { _id } = await app.store.collection(Country).insert({ name: 'x'.repeat(2000) })
    const path = `/countries/${_id}`
    const change = (known: string, name: string) =>
      ask(path, 'gzip', {
        method: 'PATCH',
        body: JSON.stringify({ name }),
        headers: { 'Content-Type': 'application/json', 'If-Match': known },
      })
    const read = tagOf(await ask(path, 'br'))
    expect(read).toMatch(/\+br"$/)
    expect((await change(read, 'Utopia')).status).toBe(200)
    expect((await change(read, 'Erewhon')).status).toBe(412)
  })

  it('lets a batch use the tags that reads had', async () => {
    const { app, ask } = await countries()
    const long = await app.store.collection(Country).insert({ name: 'x'.repeat(2000) })
    const path = `/countries/${long._id}`
    const ifMatch = tagOf(await ask(path, 'gzip'))
    const operation = { method: 'PATCH', path, ifMatch, body: { name: 'y'.repeat(2000) } }
    const sent = await ask('/batch', 'gzip', {
      method: 'POST',
      body: JSON.stringify({ operations: [operation] }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect([sent.status, codingOf(sent)]).toEqual([200, 'gzip'])
    expect(JSON.parse(await contentsOf(sent)).data[0].body.data.name).toHaveLength(2000)
  })

  it('responds to a HEAD with the headers of a GET', async () => {
    const { ask } = await countries()
    for (const path of [LIST, '/made?length=10', '/made']) {
      const [get, head] = [await ask(path, 'gzip'), await ask(path, 'gzip', { method: 'HEAD' })]
      const shown = ({ headers }: Response) =>
        [...headers].filter(([name]) => name !== 'x-request-id')
      expect(shown(head)).toEqual(shown(get))
      expect(await head.text()).toBe('')
    }
  })

  it.each(['application/x-ndjson', 'text/csv'])('compresses an export as %s', async (type) => {
    const { ask } = await countries()
    const plain = await ask('/countries', undefined, { headers: { Accept: type } })
    const made = await ask('/countries', 'gzip', { headers: { Accept: type } })
    expect([codingOf(made), made.headers.get('vary')]).toEqual([
      'gzip',
      'Accept, Accept-Encoding, Origin',
    ])
    expect(await contentsOf(made)).toBe(await plain.text())
  })

  it('sends each piece of a stream when it is there, and ends the stream with its client', async () => {
    const app = createApp({ store: sqliteStore() }).use(compress())
    onTestFinished(() => app.close())
    const { promise: ended, resolve: end } = Promise.withResolvers<unknown>()
    app.get('/lines', () => {
      const bytes = new TextEncoder()
      let at = 0
      const body = new ReadableStream({
        async pull(controller) {
          at += 1
          if (at > 2) await later(10)
          if (at > 4) return new Promise<void>(() => {})
          return controller.enqueue(bytes.encode(`line ${at}\n`))
        },
        cancel: end,
      })
      return new Response(body, { headers: { 'Content-Type': 'application/x-ndjson' } })
    })
    const headers = { 'Accept-Encoding': 'gzip' }
    const response = await app.handle(new Request('http://x/lines', { headers }))
    expect(codingOf(response)).toBe('gzip')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const unzip = zlib.createGunzip()
    let text = ''
    unzip.on('data', (part) => {
      text += String(part)
    })
    while (text.length < 28) {
      const { value } = await reader.read()
      await new Promise((done) => unzip.write(value, done))
    }
    expect(text).toBe('line 1\nline 2\nline 3\nline 4\n')
    await reader.cancel('gone')
    expect(await ended).toBe('gone')
  })

  it('sends the length of what it has compressed at once', async () => {
    const { app } = await countries()
    const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
    onTestFinished(() => close())
    const response = await fetch(url + LIST, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(codingOf(response)).toBe('gzip')
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(1000)
    expect(JSON.parse(await response.text()).data).toHaveLength(250)
  })

  it('ends a stream that fails with its error', async () => {
    const app = createApp({ store: sqliteStore() }).use(compress())
    onTestFinished(() => app.close())
    app.get('/broken', () => {
      const body = new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(2000))
          controller.error(new Error('broken'))
        },
      })
      return new Response(body, { headers: { 'Content-Type': 'text/plain' } })
    })
    const headers = { 'Accept-Encoding': 'br' }
    const response = await app.handle(new Request('http://x/broken', { headers }))
    await expect(response.text()).rejects.toThrow()
  })
})
