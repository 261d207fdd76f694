import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, type Handler } from '../../src/index.ts'

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
