import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { batch } from '../../../src/batch/index.ts'
import { createRouter, defineModel, type Guard, type RouterOptions } from '../../../src/index.ts'
import { type Service, service } from '../service.ts'

/** What guards of JavaScript get: no type says that `body` may be null. */
// biome-ignore lint/suspicious/noExplicitAny: the habits that these tests show do not compile otherwise.
type Loose = any

const Note = defineModel('Note', {
  fields: { text: z.string(), owner: z.string().optional() },
})

/** Writes of guards that were written for Express, where `req.body` is the parsed body. */
const HABITS = [
  'req.body = {}',
  "'use strict'; req.body = {}",
  "req.body.owner = 'me'",
  "req.body['a b'] = 'me'",
  'delete req.body.owner',
  "Object.assign(req.body, { owner: 'me' })",
  "const { body } = req; body.owner = 'me'",
]

function notes(
  options: Partial<RouterOptions<{ text: string; owner?: string | undefined }>> = {},
): Service {
  const on = service()
  on.app.mount('/notes', createRouter({ model: Note, middlewares: [], ...options } as Loose))
  return on
}

describe('a write to a body that is not there', () => {
  test.each(HABITS)('is a 500 with the line to write instead: %s', async (code) => {
    const on = notes({ middlewares: [new Function('req', code) as Guard] })
    on.app.mount('/batch', batch())
    const { _id } = await on.app.store.collection(Note).insert({ text: 'a' })
    const operations = [{ method: 'DELETE', path: `/notes/${_id}` }]
    const requests: readonly (readonly [string, string, object?])[] = [
      ['GET', '/notes'],
      ['HEAD', '/notes'],
      ['POST', '/notes'],
      ['DELETE', `/notes/${_id}`],
      ['POST', '/batch', { json: { operations } }],
    ]
    for (const [at, [method, path, message]] of requests.entries()) {
      expect([method, (await on.send(method, path, message)).status]).toEqual([method, 500])
      const told = on.log.text.match(/a guard or hook writes to request\.body.*Write validate/g)
      expect([method, path, told?.length]).toEqual([method, path, at + 1])
    }
    expect(await on.app.store.collection(Note).count()).toBe(1)
  })

  test('is told of in hooks of reads and after writes', async () => {
    const write = (request: Loose) => {
      request.body.seen = true
    }
    const on = notes({
      onGet: (request) => {
        write(request)
        return {}
      },
      runAfterCreate: (_, request) => write(request),
    })
    const headers = { 'content-type': 'application/json' }
    expect((await on.send('GET', '/notes')).status).toBe(200)
    expect(on.log.text).toContain('request.body.seen')
    expect((await on.send('POST', '/notes', { body: '{"text":"a"}', headers })).status).toBe(201)
    expect(on.log.text.match(/writes to request\.body\.seen/g)).toHaveLength(2)
  })

  test('an error that has nothing to do with the body stays what it is', async () => {
    const nothing: Loose = null
    const on = notes({
      middlewares: [
        (request: Loose) => {
          if (request.headers.has('x-read')) void request.body
          if (request.headers.has('x-title')) return request.body.title
          nothing.owner = 'me'
        },
      ],
    })
    await on.send('GET', '/notes')
    await on.send('GET', '/notes', { headers: { 'x-read': '1', 'x-title': '1' } })
    expect(on.log.text).toContain("Cannot set properties of null (setting 'owner')")
    expect(on.log.text).toContain("Cannot read properties of null (reading 'title')")
    expect(on.log.text).not.toContain('writes to request')
    // Once the body has been read, nothing tells them apart; the error itself is in the log as its cause.
    await on.send('GET', '/notes', { headers: { 'x-read': '1' } })
    expect(on.log.text).toMatch(
      /writes to request\.body\.owner[^]*caused by: TypeError: Cannot set/,
    )
  })

  test('a body that is not there is null for guards, and a request can be made of it', async () => {
    const seen: unknown[] = []
    const on = notes({
      middlewares: [
        (request) => {
          const { method, url, headers, body } = request
          seen.push(body, new Request(url, { method, headers, body }).body, request.clone().body)
          seen.push(new Request(request).method)
        },
      ],
    })
    expect((await on.send('GET', '/notes')).status).toBe(200)
    expect(seen).toEqual([null, null, null, 'GET'])
  })
})
