/**
 * A server for the tests of `serve`, on whatever runtime runs it: `<runtime> fixture.ts`.
 *
 * Says each event on a line of its own. `release` on its standard input lets what waits go on, `close` closes it.
 *
 * @module
 */

import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Served, ServeOptions } from '../../adapters/runtimes/server.ts'
import type { App } from '../../src/app/app.ts'
import { eachChunk } from '../../src/http/body/body.ts'

const say = (...words: unknown[]) => console.log(words.join(' '))
// What is logged comes on the same output.
console.warn = say
const runtime = 'Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node'
const { serve } = (await import(`../../adapters/runtimes/${runtime}.ts`)) as {
  serve(app: App, options?: ServeOptions): Promise<Served>
}

/** Requests that wait until they are told to go on. */
const waiting: (() => void)[] = []

const routes: Readonly<
  Record<string, (request: Request, platform: Platform) => Promise<Response>>
> = {
  async echo(request) {
    return Response.json({ method: request.method, body: await request.text() })
  },
  async wait() {
    say('waiting')
    await new Promise<void>((resolve) => waiting.push(resolve))
    return new Response('finished')
  },
  async background(_request, platform) {
    const work = new Promise<void>((resolve) => waiting.push(resolve)).then(() => say('worked'))
    platform.waitUntil(work)
    return new Response('later')
  },
  async stream() {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
      cancel: () => say('cancelled'),
    })
    return new Response(body)
  },
  async parts() {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('first '))
        await new Promise<void>((resolve) => waiting.push(resolve))
        controller.enqueue(new TextEncoder().encode('last'))
        controller.close()
      },
    })
    return new Response(body)
  },
  async read(request) {
    say('reading')
    try {
      const { byteLength } = await request.arrayBuffer()
      return new Response(`${byteLength}`)
    } catch {
      say('interrupted')
      return new Response('interrupted', { status: 400 })
    }
  },
  async big() {
    say('big')
    return new Response('x'.repeat(10_000_000))
  },
  async pieces() {
    let left = 160
    const body = new ReadableStream({
      pull(controller) {
        if (left === 0) return controller.close()
        left -= 1
        controller.enqueue(new Uint8Array(64 * 1024).fill(120))
      },
    })
    return new Response(body)
  },
  async memory() {
    return Response.json(process.memoryUsage.rss())
  },
  async limited(request) {
    if (Number(request.headers.get('content-length')) > 1000) {
      return new Response('too much', { status: 413 })
    }
    return new Response(await request.text())
  },
  async begun(request) {
    const refuse = () => Promise.reject(new Error('too much'))
    const error = await eachChunk(request, 60_000, refuse).catch(String)
    return new Response(`${error}`, { status: 413 })
  },
  async refuse() {
    return new Response('too much', { status: 413 })
  },
}

interface Platform {
  waitUntil(promise: Promise<unknown>): void
}

const app = {
  async handle(request: Request, _env: unknown, platform: Platform): Promise<Response> {
    const route = routes[new URL(request.url).pathname.slice(1)]
    return (await route?.(request, platform)) ?? new Response('absent', { status: 404 })
  },
  ready: async () => say('ready'),
  close: async () => say('app closed'),
} as unknown as App

process.on('unhandledRejection', (error) => say('unhandled', error))

const options = JSON.parse(process.argv[2] ?? '{}') as ServeOptions
try {
  const server = await serve(app, { port: 0, hostname: '127.0.0.1', ...options })
  say('pid', process.pid)
  say('url', server.url)
  createInterface({ input: process.stdin }).on('line', (word) => {
    if (word === 'release') for (const go of waiting.splice(0)) go()
    else void close(server)
  })
} catch (error) {
  // The process ends by itself: a server that could not start leaves nothing behind.
  say('rejected', (error as NodeJS.ErrnoException).code ?? error)
}

async function close(server: Served): Promise<void> {
  await Promise.all([server.close(), server.close()])
  say('closed')
  process.exit()
}
