import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Note = defineModel('SlowNote', { fields: { text: z.string() } })

/** A POST whose body is sent bit by bit by the test. */
async function slowPost() {
  const { app } = service({ maxBodySize: 1024 * 1024 })
  app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'] }))
  await app.ready()
  let body: ReadableStreamDefaultController<Uint8Array> | undefined
  const request = new Request('http://localhost/notes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new ReadableStream<Uint8Array>({
      start(controller) {
        body = controller
      },
    }),
    duplex: 'half',
  } as RequestInit)
  const answer = app.handle(request).then(async (response) => ({
    status: response.status,
    error: ((await response.json()) as { error?: string }).error,
  }))
  return {
    answer,
    send: (text: string) => body?.enqueue(new TextEncoder().encode(text)),
    end: () => body?.close(),
  }
}

describe('security, slow bodies', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('a body that trickles in has 25 seconds', async () => {
    const { answer, send } = await slowPost()
    send('{"text":"')
    for (let second = 0; second < 26; second += 1) {
      await vi.advanceTimersByTimeAsync(1000)
      send('x')
    }
    expect(await answer).toEqual({
      status: 408,
      error: 'Request body took too long to arrive.',
    })
  })

  test('a body that never begins has 25 seconds', async () => {
    const { answer } = await slowPost()
    await vi.advanceTimersByTimeAsync(25_500)
    expect((await answer).status).toBe(408)
  })

  test('a large body may take another second for each 64 KiB', async () => {
    const { answer, send, end } = await slowPost()
    send('{"text":"')
    for (let second = 0; second < 12; second += 1) {
      send('x'.repeat(65_536))
      await vi.advanceTimersByTimeAsync(3000)
    }
    send('"}')
    end()
    expect((await answer).status).toBe(201)
  })
})
