import { afterAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type LambdaHandler, lambda } from '../../adapters/runtimes/lambda.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { awslambda, gateway } from './lambda-gateway.ts'

const Note = defineModel('LambdaNote', { fields: { title: z.string() } })
const stops: (() => Promise<void>)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

async function served(make: typeof lambda, stage?: string) {
  const later: string[] = []
  const app = createApp({ store: sqliteStore() })
  app.mount('/notes', createRouter({ model: Note, middlewares: [], allowedFields: ['title'] }))
  app.mount(
    '/own',
    createRouter({ model: Note, middlewares: [], allowedFields: ['title'] })
      .get('/where', (request, context) =>
        Response.json({ url: request.url, client: context.clientAddress }),
      )
      .get('/bytes', () => new Response(new Uint8Array([0, 255, 254, 13, 10])))
      .get('/cookies', (request) => {
        const headers = new Headers()
        headers.append('Set-Cookie', 'a=1; HttpOnly')
        headers.append('Set-Cookie', 'b=2')
        return new Response(request.headers.get('cookie'), { headers })
      })
      .get('/later', (_, context) => {
        context.waitUntil(
          new Promise<void>((resolve) =>
            setTimeout(() => {
              later.push('done')
              resolve()
            }, 20),
          ),
        )
        return new Response('now')
      }),
  )
  const { url, stop } = await gateway(make(app), stage)
  stops.push(stop)
  return { url, later }
}

const streamed: typeof lambda = (app) => {
  Object.assign(globalThis, { awslambda })
  return lambda(app, { streaming: true })
}

describe.each([
  ['whole', lambda],
  ['streamed', streamed],
])('a Lambda function with %s responses', (_, make) => {
  it('carries texts, bytes and cookies both ways', async () => {
    const { url } = await served(make)
    const made = await fetch(`${url}/notes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'Grüße ☕' }),
    })
    expect([made.status, await made.json()]).toMatchObject([201, { data: { title: 'Grüße ☕' } }])
    expect(made.headers.get('location')).toMatch(/^\/notes\//)
    const bytes = await fetch(`${url}/own/bytes`)
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 254, 13, 10])
    const cookies = await fetch(`${url}/own/cookies`, { headers: { Cookie: 'x=1; y=2' } })
    expect(cookies.headers.getSetCookie()).toEqual(['a=1; HttpOnly', 'b=2'])
    expect(await cookies.text()).toBe('x=1; y=2')
  })

  it('knows the client, and leaves the stage out of paths', async () => {
    const { url } = await served(make, 'prod')
    const where = await (await fetch(`${url}/own/where?a=1`)).json()
    expect(where).toMatchObject({
      client: '127.0.0.1',
      url: expect.stringMatching(/\/own\/where\?a=1$/),
    })
    expect((await fetch(`${url}/prod/own/where`)).status).toBe(404)
  })

  it('ends after what waitUntil was given', async () => {
    const { url, later } = await served(make)
    const response = await fetch(`${url}/own/later`)
    expect(await response.text()).toBe('now')
    await expect.poll(() => later).toEqual(['done'])
  })
})

it('refuses to stream where the platform cannot', () => {
  Reflect.deleteProperty(globalThis, 'awslambda')
  const app = createApp({ store: sqliteStore() })
  expect((): LambdaHandler => lambda(app, { streaming: true })).toThrow(/'streaming' needs/)
})
