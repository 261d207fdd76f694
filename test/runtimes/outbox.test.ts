import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { toExpress } from '../../adapters/runtimes/express.ts'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, type Handler } from '../../src/index.ts'
import { recordedLog } from '../records/service.ts'

/** The raw answers of a server whose path `/made` returns what `handler` makes. */
async function answersOf(handler: Handler) {
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const app = createApp({ store: sqliteStore(), logger }).get('/made', handler)
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  onTestFinished(() => close())
  return async (method = 'GET'): Promise<IncomingMessage> => {
    const asked = get(`${url}/made`, { method, agent: false })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return answer
  }
}

const encoder = new TextEncoder()

it.each([
  ['json', () => Response.json({ name: 'Zoë' }), '{"name":"Zoë"}'],
  ['nothing', () => new Response(''), ''],
  ['bytes', () => new Response(encoder.encode('☃'.repeat(3))), '☃☃☃'],
])("a platform's response of %s is sent whole, with its length", async (_, make, sent) => {
  const answers = await answersOf(make)
  const answer = await answers()
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(sent)))
  expect(await text(answer)).toBe(sent)
})

it.each([
  ['ASCII', 'Zoe '],
  ['Latin-1', 'Zoë '],
  ['others', '☃😀 '],
])('a value of %s is sent whole, with its length', async (_, word) => {
  for (const times of [1, 20_000]) {
    const sent = JSON.stringify({ success: true, data: word.repeat(times) })
    const answer = await (await answersOf(() => word.repeat(times)))()
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(sent)))
    expect((await text(answer)) === sent).toBe(true)
  }
})

it('logs what breaks a body on its way, and not that a client has left', async () => {
  const log = recordedLog()
  const app = createApp({ store: sqliteStore(), logger: log, env: {} })
  const cancel = vi.fn()
  const body = (pieces: number) => {
    let sent = 0
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      await nextTurn()
      if (sent === pieces) throw new Error('it tore')
      sent += 1
      controller.enqueue(new Uint8Array(70_000))
    }
    return new ReadableStream({ pull, cancel })
  }
  async function* file() {
    yield 'x'.repeat(70_000)
    throw new Error('no disk')
  }
  const node = () => ({
    ...CONTENT,
    headers: ['Access-Control-Expose-Headers', 'X-Request-Id', 'X-Request-Id', 'file'],
    body: Readable.from(file()),
  })
  app.get('/torn', () => new Response(body(2)))
  app.get('/long', () => new Response(body(1), { headers: { 'Content-Length': '9' } }))
  app.get('/file', () => Object.assign(new Response(), { _toNodeResponse: node }))
  app.get('/endless', () => new Response(body(Number.POSITIVE_INFINITY)))
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  onTestFinished(() => close())
  const client = connect(Number(new URL(url).port), '127.0.0.1')
  client.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(client, 'data')
  client.destroy()
  await expect.poll(() => cancel).toHaveBeenCalled()
  const why = { torn: 'it tore', long: 'content-length of 9', file: 'no disk' }
  for (const path of Object.keys(why)) {
    const got = fetch(`${url}/${path}`, { headers: { 'X-Request-Id': path } })
    await expect(got.then((response) => response.text())).rejects.toThrow()
  }
  expect(log.lines).toEqual(
    Object.entries(why).map(([requestId, words]) => ({
      level: 'error',
      message: 'a response broke off',
      details: { requestId, error: expect.stringContaining(words) },
    })),
  )
})

it('cuts what is still sent at the end of the grace, before a tunnel too', async () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>()
  const pull = async (body: ReadableStreamDefaultController<Uint8Array>) => {
    await nextTurn()
    body.enqueue(new Uint8Array(9))
  }
  const app = createApp({ store: sqliteStore(), env: {} })
  app.get('/endless', () => new Response(new ReadableStream({ pull, cancel })))
  const options = { port: 0, hostname: '127.0.0.1', signals: false, graceMs: 20 }
  const { url, close } = await serve(app, options)
  const client = connect(Number(new URL(url).port), '127.0.0.1')
  client.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\nCONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(client, 'data')
  await close()
  await cancelled
})

const CONTENT = { status: 200, statusText: '' }

it('a status, its words, cookies and a length of your own are kept', async () => {
  const headers = [
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['Content-Length', '4'],
  ] as [string, string][]
  const answers = await answersOf(
    () => new Response('four', { status: 203, statusText: 'As told', headers }),
  )
  const answer = await answers()
  expect([answer.statusCode, answer.statusMessage]).toEqual([203, 'As told'])
  expect(answer.headersDistinct).toMatchObject({
    'set-cookie': ['a=1', 'b=2'],
    'content-length': ['4'],
  })
  expect(await text(answer)).toBe('four')
})

it("another server's response is passed on as it came", async () => {
  const upstream = createServer((_, response) => {
    response.write('in ')
    response.end('chunks')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void upstream.close())
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  const answers = await answersOf(() => fetch(`http://127.0.0.1:${port}`))
  const answer = await answers()
  expect(answer.headers).toMatchObject({ 'transfer-encoding': 'chunked' })
  expect(answer.headers['content-length']).toBeUndefined()
  expect(await text(answer)).toBe('in chunks')
})

it('of a passed on response, what is about its connection is left out', async () => {
  const upstream = createServer((_, response) => void response.end('text')).listen(0, '127.0.0.1')
  onTestFinished(() => void upstream.close())
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  const answers = await answersOf(async () => {
    const passed = await fetch(`http://127.0.0.1:${port}`)
    expect(passed.headers.get('connection')).toBe('keep-alive')
    return passed
  })
  // The client has asked for an end of its own connection.
  const { headers } = await answers()
  expect([headers.connection, headers['keep-alive']]).toEqual(['close', undefined])
})

it.each(['GET', 'HEAD'])(
  'to a %s, a passed on response whose body fetch has decoded does not say that it is encoded',
  async (method) => {
    const upstream = createServer((_, response) => {
      const encoded = gzipSync('text '.repeat(99))
      const headers = { 'Content-Encoding': 'gzip', 'Content-Length': encoded.length, 'X-One': '1' }
      response.writeHead(200, headers).end(encoded)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void upstream.close())
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const answers = await answersOf(() => fetch(`http://127.0.0.1:${port}`))
    const answer = await answers(method)
    const {
      'content-encoding': encoding,
      'content-length': length,
      'x-one': other,
    } = answer.headers
    expect([encoding, length, other]).toEqual([undefined, undefined, '1'])
    expect(await text(answer)).toBe(method === 'GET' ? 'text '.repeat(99) : '')
  },
)

it.each([
  ['whole', 'more', '2'],
  ['whole', 'less', '20'],
  ['in pieces', 'more', '2'],
  ['in pieces', 'less', '20'],
])(
  'a body that is sent %s, and is %s than its length says, ends the connection',
  async (how, _, length) => {
    const told = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => told.mockRestore())
    async function* pieces() {
      for (const piece of ['one', 'two']) {
        yield encoder.encode(piece)
        await nextTurn()
        await nextTurn()
      }
    }
    const body = () => (how === 'whole' ? 'one' : (pieces() as never))
    const app = createApp({ store: sqliteStore() })
    app.get('/made', () => new Response(body(), { headers: { 'Content-Length': length } }))
    const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
    onTestFinished(() => close())
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /made HTTP/1.1\r\nHost: a\r\n\r\n')
    // Node itself ends an idle connection after five seconds.
    const late = pause(3000).then(() => 'late')
    const all = await Promise.race([text(socket).catch(() => ''), late])
    expect(all).not.toBe('late')
    const [, sent = ''] = all.split('\r\n\r\n')
    expect(sent.length).toBeLessThanOrEqual(Number(length))
  },
)

it('a response that closes the connection does so', async () => {
  const answers = await answersOf(() => new Response('', { headers: { Connection: 'close' } }))
  expect((await answers()).headers.connection).toBe('close')
})

it('a response to HEAD has no body', async () => {
  const answers = await answersOf(() => Response.json({ some: 'thing' }))
  const answer = await answers('HEAD')
  expect(answer.headers['content-type']).toBe('application/json')
  expect(await text(answer)).toBe('')
})

it.each([1, 64 * 1024, 64 * 1024 + 1, 3_000_000])('%i bytes arrive as they are', async (count) => {
  const bytes = new Uint8Array(count).map((_, at) => at % 251)
  const answers = await answersOf(() => new Response(bytes))
  const pieces = await (await answers()).toArray()
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
})

it('what a stream has is sent at once, and the rest when it is there', async () => {
  const sources: ReadableStreamDefaultController<Uint8Array>[] = []
  const send = (piece: string) => sources[0]?.enqueue(encoder.encode(piece))
  const start = (source: ReadableStreamDefaultController<Uint8Array>) => {
    sources.push(source)
    send('first')
  }
  const answers = await answersOf(() => new Response(new ReadableStream({ start })))
  const answer = await answers()
  const received = answer.setEncoding('utf8')[Symbol.asyncIterator]()
  expect((await received.next()).value).toBe('first')
  for (const piece of ['one', 'two', 'three']) {
    send(piece)
    expect((await received.next()).value).toBe(piece)
  }
  sources[0]?.close()
  expect((await received.next()).done).toBe(true)
  expect(answer.headers['content-length']).toBeUndefined()
})

it.each(['at once', 'after a piece', 'later'])(
  'a stream that fails %s ends the connection',
  async (when) => {
    const body = new ReadableStream({
      async pull(controller) {
        if (when === 'after a piece') controller.enqueue(encoder.encode('one'))
        if (when === 'later') {
          controller.enqueue(encoder.encode('one'))
          await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        }
        controller.error(new Error('it failed'))
      },
    })
    const answers = await answersOf(() => new Response(body))
    await expect(answers().then(text)).rejects.toThrow()
  },
)

it('a stream whose client leaves is cancelled', async () => {
  const cancelled = Promise.withResolvers<void>()
  const body = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(encoder.encode('one')),
      cancel: () => cancelled.resolve(),
    })
  const answers = await answersOf(() => new Response(body()))
  const answer = await answers()
  answer.destroy()
  await cancelled.promise
})

it('a stream of strings is sent too', async () => {
  const body = () =>
    new ReadableStream<string>({
      start(controller) {
        controller.enqueue('text, ☃')
        controller.close()
      },
    })
  const answers = await answersOf(() => new Response(body() as never))
  expect(await text(await answers())).toBe('text, ☃')
})

it('a response whose client has left is no failure', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => told.mockRestore())
  const [arrived, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const app = createApp({ store: sqliteStore() }).get('/made', async ({ signal }) => {
    arrived.resolve()
    await once(signal, 'abort')
    made.resolve()
    return new Response('text')
  })
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  const asked = get(`${url}/made`, { agent: false }).on('error', () => {})
  await arrived.promise
  asked.destroy()
  await made.promise
  await close()
  expect(told.mock.calls).toEqual([])
})

it('a stream whose client has left before it begins is cancelled', async () => {
  const cancelled = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const app = createApp({ store: sqliteStore() }).get('/made', async ({ signal }) => {
    arrived.resolve()
    await once(signal, 'abort')
    return new Response(new ReadableStream({ cancel: () => cancelled.resolve() }))
  })
  const { url, close } = await serve(app, { port: 0, hostname: '127.0.0.1', signals: false })
  onTestFinished(() => close())
  const asked = get(`${url}/made`, { agent: false }).on('error', () => {})
  await arrived.promise
  asked.destroy()
  await cancelled.promise
})

it.each(['text', 'a stream', 'a slow stream'])(
  'a response of %s whose head cannot be sent is a 500, and the console has why',
  async (kind) => {
    const told = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => told.mockRestore())
    const cancelled = Promise.withResolvers<void>()
    const slow = new ReadableStream({ cancel: () => cancelled.resolve() })
    const long = new ReadableStream({
      pull: (controller) => controller.enqueue(encoder.encode('piece')),
      cancel: () => cancelled.resolve(),
    })
    const body = { text: 'text', 'a stream': long, 'a slow stream': slow }[kind] as BodyInit
    // `Headers` takes it, Node does not.
    const answers = await answersOf(() => new Response(body, { headers: { 'X-Name': '\u0001' } }))
    const answer = await answers()
    expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual([
      500,
      { success: false, error: 'Internal Server Error', requestId: answer.headers['x-request-id'] },
    ])
    expect(told.mock.calls).toEqual([
      [answer.headers['x-request-id'], expect.objectContaining({ code: 'ERR_INVALID_CHAR' })],
    ])
    if (kind !== 'text') await cancelled.promise
  },
)

it('a response whose body something else reads is a 500, and the console has why', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => told.mockRestore())
  const made = new Response('text')
  made.body?.getReader()
  const answers = await answersOf(() => made)
  expect((await answers()).statusCode).toBe(500)
  expect(told.mock.calls).toEqual([[expect.any(String), expect.any(TypeError)]])
})

it('what makes a stream runs in the context of its own request', async () => {
  const caller = new AsyncLocalStorage<string>()
  const together = Promise.withResolvers<void>()
  let arrived = 0
  const app = createApp({ store: sqliteStore() }).get('/made', async () => {
    arrived += 1
    if (arrived === 3) together.resolve()
    await together.promise
    async function* pieces() {
      for (let count = 0; count < 4; count += 1) yield encoder.encode(`${caller.getStore()} `)
    }
    return new Response(pieces() as never)
  })
  const listener = toExpress(app)
  const server = createServer((request, response) => {
    caller.run(`${request.headers['x-caller']}`, () => listener(request, response))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (name: string) => {
    const headers = { 'X-Caller': name }
    const asked = get(`http://127.0.0.1:${port}/made`, { agent: false, headers })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return text(answer)
  }
  expect(await Promise.all(['ann', 'bob', 'cat'].map(ask))).toEqual([
    'ann ann ann ann ',
    'bob bob bob bob ',
    'cat cat cat cat ',
  ])
})
