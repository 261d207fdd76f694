import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Guard } from '../../../src/index.ts'
import { request, service } from '../service.ts'

const Thing = defineModel('ExtraBodyThing', { fields: { name: z.string() } })
const options = { model: Thing, allowedFields: ['name'] as const, middlewares: [] }
const TOO_LARGE = 'Request body exceeds the limit of 100 bytes.'

/** A body that never ends: its first bytes, then nothing. */
function stuck(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"name":')),
  })
}

describe('who reads a body beside the model routes', () => {
  const readers: Record<string, Guard> = {
    text: async (request) => void (await request.text()),
    stream: async (request) => {
      for await (const chunk of request.body ?? []) void chunk
    },
    clone: async (request) => void (await request.clone().text()),
  }

  test.each(Object.keys(readers))('a guard that reads by %s meets the limits', async (way) => {
    const guard = readers[way] as Guard
    const inApp = service({ maxBodySize: 100, bodyTimeoutMs: 50 })
    inApp.app.use(guard).mount('/things', createRouter(options))
    const inRouter = service({ maxBodySize: 100, bodyTimeoutMs: 50 })
    inRouter.app.mount('/things', createRouter({ ...options, middlewares: [guard] }))
    for (const { send } of [inApp, inRouter]) {
      const large = await send('POST', '/things', { json: { name: 'x'.repeat(100) } })
      expect([large.status, large.body.error]).toEqual([413, TOO_LARGE])
      const slow = await send('POST', '/things', { body: stuck() })
      expect([slow.status, slow.body.error]).toEqual([408, 'Request body took too long to arrive.'])
    }
  })

  test('a guard that reads a copy leaves the body to the route', async () => {
    const seen: string[] = []
    const { app, send } = service({ maxBodySize: 100 })
    app.use(async (request) => {
      const { body } = request
      expect(request.body).toBe(body)
      if (body) seen.push(await request.clone().text())
    })
    app.mount('/things', createRouter(options))
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    expect(record.name).toBe('a')
    expect(seen).toEqual(['{"name":"a"}'])
  })

  test('a body is read once, and a handler may answer the refusal itself', async () => {
    const { app, send } = service({ maxBodySize: 100 })
    const router = createRouter(options)
    router.post('/twice', async (request) => {
      await request.text()
      expect(request.bodyUsed).toBe(true)
      await expect(request.text()).rejects.toThrow(TypeError)
      return new Response('once')
    })
    router.post('/own', async (request) =>
      request.text().then(
        (text) => new Response(text),
        () => new Response('mine', { status: 422 }),
      ),
    )
    app.mount('/things', router)
    expect((await send('POST', '/things/twice', { body: 'a' })).text).toBe('once')
    expect((await send('POST', '/things/own', { body: 'x'.repeat(101) })).status).toBe(422)
  })

  test('a stream that is given up, or passed on, neither fails nor holds anything', async () => {
    const { app, log } = service()
    const router = createRouter(options)
    router.post('/left', async (request) => {
      const reader = request.body?.getReader()
      await reader?.read()
      await reader?.cancel()
      return new Response('left')
    })
    router.post('/echo', (request) => new Response(request.body))
    app.mount('/things', router)
    const left = await app.handle(request('POST', '/things/left', { body: 'abc' }))
    expect(await left.text()).toBe('left')
    const echo = await app.handle(request('POST', '/things/echo', { body: 'abc' }))
    expect(await echo.text()).toBe('abc')
    expect(log.lines).toEqual([])
  })

  test('a compressed body is refused where it would be read as JSON or a form', async () => {
    const { app, send } = service()
    const router = createRouter(options)
    router.post('/json', async (request) => Response.json(await request.json()))
    app.mount('/things', router)
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    expect((await send('POST', '/things/json', { body: '{}', headers })).status).toBe(415)
  })
})
