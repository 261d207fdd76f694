/**
 * Routes behind the guards of `fieldgate/guards`.
 *
 * @module
 */

import * as z from 'zod/mini'
import {
  apiKey,
  compress,
  cors,
  idempotency,
  rateLimit,
  readOnly,
  secureHeaders,
} from '../../../src/guards/index.ts'
import { type App, createRouter, defineModel, type Guard } from '../../../src/index.ts'

const Guarded = defineModel('Guarded', { fields: { name: z.string() } })

/** So long that no test sees its end. */
const CENTURY = 100 * 365 * 86_400

const routers: Readonly<Record<string, readonly Guard[]>> = {
  cors: [cors({ origins: ['https://app.example.com'], credentials: true }), secureHeaders()],
  closed: [readOnly()],
  packed: [compress()],
  keys: [apiKey({ keys: ['a key for the tests'.replaceAll(' ', '-')] })],
  limited: [
    rateLimit({
      limit: 2,
      windowSeconds: CENTURY,
      key: ({ headers }) => headers.get('x-client') ?? undefined,
    }),
  ],
  once: [idempotency({ ttlSeconds: CENTURY })],
  habits: [(request) => habits[request.headers.get('x-habit') ?? '']?.(request)],
}

/** What middlewares of Express do with a request, in code without types. */
// biome-ignore lint/suspicious/noExplicitAny: they do not compile otherwise.
const habits: Readonly<Record<string, (request: any) => ReturnType<Guard>>> = {
  body(request) {
    request.body = { name: 'x' }
  },
  member(request) {
    request.body.name = 'x'
  },
  delete(request) {
    delete request.body.name
  },
  assign(request) {
    Object.assign(request.body, { name: 'x' })
  },
  title(request) {
    request.body.title.trim()
  },
  query(request) {
    request.query.name = 'x'
  },
  user(request) {
    request.user = { _id: '1' }
  },
  define(request) {
    Object.defineProperty(request, 'query', { value: {} })
  },
  nested(request) {
    request.query.list.push('x')
  },
  headers(request) {
    request.headers.role = 'x'
  },
  defined(request) {
    Object.defineProperty(request.body, 'name', { value: 'x' })
  },
  asked(request) {
    if (request.body.name) throw new Error('never here')
  },
  contained(request) {
    if ('name' in request.body) throw new Error('never here')
  },
  listed(request) {
    for (const name in request.body) throw new Error(`never here: ${name}`)
  },
  cloned(request) {
    return answer(structuredClone(request.query))
  },
  async passed(request) {
    console.debug(request.body)
    return answer({ length: (await new Response(request.body).text()).length })
  },
  async piped(request) {
    const piped = request.body.pipeThrough(new TransformStream())
    return answer({ length: (await new Response(piped).text()).length })
  },
  async sent(request) {
    const { url, body } = request
    const again = new Request(url, { method: 'POST', body, duplex: 'half' } as RequestInit)
    return answer({ length: (await again.text()).length })
  },
  async read(request) {
    return answer(await request.clone().json())
  },
  async stream(request) {
    let length = 0
    for await (const chunk of request.body) length += chunk.length
    return answer({ length })
  },
}

/** Bun's Response.json names a charset, the others' does not. */
function answer(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json' } })
}

/** `app` with the routes. */
export function withGuards(app: App): App {
  for (const [name, middlewares] of Object.entries(routers)) {
    app.mount(
      `/guards/${name}`,
      createRouter({ model: Guarded, allowedFields: ['name'], orderBy: 'name', middlewares }),
    )
  }
  return app
}
