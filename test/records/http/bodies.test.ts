import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const LIMIT = 1000

const Note = defineModel('BodyNote', { fields: { text: z.string(), extra: z.any().optional() } })

function notes(maxBodySize = LIMIT) {
  const served = service({ maxBodySize })
  served.app.mount(
    '/notes',
    createRouter({ model: Note, query: ['text'], allowedFields: ['text', 'extra'] }),
  )
  return served
}

const json = { 'content-type': 'application/json' }
const TOO_LARGE = `Request body exceeds the limit of ${LIMIT} bytes.`
const NOT_JSON = 'Request body is not valid JSON.'

/** A body of `total` bytes in chunks of 100, which counts what was taken; from `from` on each waits for a turn. */
function counted(total: number, from = total) {
  const taken = { bytes: 0 }
  const chunk = new TextEncoder().encode('x'.repeat(100))
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (taken.bytes >= from) await new Promise((resolve) => setTimeout(resolve))
        if (taken.bytes >= total) return controller.close()
        taken.bytes += chunk.length
        controller.enqueue(chunk)
      },
    },
    { highWaterMark: 0 },
  )
  return { body, taken }
}

/** `{"text":"xx…"}` of exactly `bytes` bytes. */
const noteOf = (bytes: number) => `{"text":"${'x'.repeat(bytes - 11)}"}`

describe('answers, Envelope and errors: JSON bodies', () => {
  test('8 Limits: a body of the limit passes, one byte more is a 413', async () => {
    const { send } = notes()
    expect((await send('POST', '/notes', { body: noteOf(LIMIT), headers: json })).status).toBe(201)
    const over = await send('POST', '/notes', { body: noteOf(LIMIT + 1), headers: json })
    expect(over.status).toBe(413)
    expect(over.body.error).toBe(TOO_LARGE)
  })

  test('8 Limits: bytes are counted, not characters', async () => {
    const { send } = notes()
    const body = JSON.stringify({ text: 'é'.repeat(500) })
    expect(body.length).toBeLessThan(LIMIT)
    expect((await send('POST', '/notes', { body, headers: json })).status).toBe(413)
  })

  test('8 Limits: the limit is 1 MiB by default', async () => {
    const served = service()
    served.app.mount('/notes', createRouter({ model: Note, allowedFields: ['text'] }))
    const mebibyte = 1024 * 1024
    expect(
      (await served.send('POST', '/notes', { body: noteOf(mebibyte), headers: json })).status,
    ).toBe(201)
    const over = await served.send('POST', '/notes', { body: noteOf(mebibyte + 1), headers: json })
    expect(over.body.error).toBe('Request body exceeds the limit of 1048576 bytes.')
  })

  test.each([
    ['without a Content-Length', {}],
    ['with a Content-Length that says less', { 'content-length': '10' }],
    ['with a Content-Length of 0', { 'content-length': '0' }],
    ['with a Content-Length that is no number', { 'content-length': 'ten' }],
    ['with a negative Content-Length', { 'content-length': '-1' }],
  ])(
    'security, large bodies: a body over the limit %s is a 413 before the rest of it is there',
    async (_, headers) => {
      const { send } = notes()
      for (const method of ['POST', 'QUERY']) {
        const { body, taken } = counted(20_000, 2000)
        const answer = await send(method, '/notes', { body, headers: { ...json, ...headers } })
        expect(answer.status).toBe(413)
        expect(answer.body.error).toBe(TOO_LARGE)
        expect(taken.bytes).toBeLessThanOrEqual(10_000)
        // Clients may send it before they read the response.
        await expect.poll(() => taken.bytes).toBe(20_000)
      }
    },
  )

  test('security, large bodies: a Content-Length over the limit is a 413 at once', async () => {
    const { send } = notes()
    const { body, taken } = counted(1_000_000)
    const answer = await send('POST', '/notes', {
      body,
      headers: { ...json, 'content-length': '1000000' },
    })
    expect(answer.body.error).toBe(TOO_LARGE)
    expect(taken.bytes).toBe(0)
  })

  test('security, large bodies: a body in chunks without a length is put together', async () => {
    const { send } = notes()
    const bytes = new TextEncoder().encode(JSON.stringify({ text: 'grüße' }))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    expect((await send('POST', '/notes', { body, headers: json })).record.text).toBe('grüße')
  })

  test.each(['gzip', 'deflate', 'br', 'gzip, identity', 'x-unknown'])(
    'security, large bodies: Content-Encoding %s is a 415, before a byte is read',
    async (encoding) => {
      const { send } = notes()
      for (const method of ['POST', 'QUERY']) {
        const { body, taken } = counted(1_000_000)
        const answer = await send(method, '/notes', {
          body,
          headers: { ...json, 'content-encoding': encoding },
        })
        expect(answer.status).toBe(415)
        expect(answer.body.success).toBe(false)
        expect(taken.bytes).toBe(0)
      }
    },
  )

  test('security, large bodies: Content-Encoding identity is no encoding', async () => {
    const { send } = notes()
    const answer = await send('POST', '/notes', {
      json: { text: 'a' },
      headers: { 'content-encoding': 'identity' },
    })
    expect(answer.status).toBe(201)
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json; charset="UTF-8"',
    'APPLICATION/JSON',
    'application/merge-patch+json',
    'application/vnd.api+json;v=1',
    'application/ld+json; profile="https://example.com/a; charset=x"',
    'application/json;a="\\";charset=x";charset=utf-8;b',
  ])('answers, Envelope and errors: %s is taken by POST and PATCH', async (type) => {
    const { send } = notes()
    const headers = { 'content-type': type }
    const created = await send('POST', '/notes', { body: '{"text":"a"}', headers })
    expect(created.status).toBe(201)
    const updated = await send('PATCH', `/notes/${created.record._id}`, {
      body: '{"text":"b"}',
      headers,
    })
    expect(updated.record.text).toBe('b')
  })

  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/xml',
    'application/json, text/html',
    'application/json; charset=utf-7',
    'application/json;v=1;charset="iso-8859-1"',
    'application/json;v="a;b";Charset=utf-16',
    'application/json;v="a;charset=utf-16',
    'application/json; charset=utf-8; charset=utf-16',
    'json',
  ])('security, odd bodies: %s is a 415 on POST and PATCH', async (type) => {
    const { send } = notes()
    const headers = { 'content-type': type }
    for (const [method, path] of [
      ['POST', '/notes'],
      ['PATCH', `/notes/${'a'.repeat(24)}`],
    ] as const) {
      const answer = await send(method, path, { body: '{"text":"a"}', headers })
      expect(answer.status).toBe(415)
      // Of JSON in another charset, the type alone would be no news.
      const expected = /json/.test(type) ? 'application/json in UTF-8' : 'application/json'
      expect(answer.body).toMatchObject({
        success: false,
        error: `Request body must be sent as ${expected}.`,
        requestId: expect.any(String),
      })
    }
  })

  test('security, odd bodies: a body without Content-Type is a 415', async () => {
    const { send } = notes()
    const body = new TextEncoder().encode('{"text":"a"}')
    expect((await send('POST', '/notes', { body })).status).toBe(415)
    expect((await send('PATCH', `/notes/${'a'.repeat(24)}`, { body })).status).toBe(415)
    expect((await send('QUERY', '/notes', { body })).status).toBe(415)
  })

  test('answers, Envelope and errors: an empty body on a write is an empty object', async () => {
    const { send } = notes()
    for (const message of [{}, { headers: json }, { body: '', headers: json }]) {
      const answer = await send('POST', '/notes', message)
      expect(answer.status).toBe(400)
      expect(answer.body.error).toBe('Request body contains no writable fields.')
    }
  })

  test.each([
    ['{', '{'],
    ['a trailing comma', '{"text":"a",}'],
    ['single quotes', "{'text':'a'}"],
    ['NaN', '{"text":NaN}'],
    ['a comment', '{"text":"a"/**/}'],
    ['two values', '{"text":"a"}{"text":"b"}'],
    ['blanks only', '  '],
    ['a control character in a string', '{"text":"a\u0001"}'],
    ['undefined', 'undefined'],
  ])('security, odd bodies: %s is invalid JSON, on POST, PATCH and QUERY', async (_, body) => {
    const { send } = notes()
    for (const [method, path] of [
      ['POST', '/notes'],
      ['PATCH', `/notes/${'a'.repeat(24)}`],
      ['QUERY', '/notes'],
    ] as const) {
      const answer = await send(method, path, { body, headers: json })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toBe(NOT_JSON)
    }
  })

  test.each([
    ['a stray continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a sequence', [0xe2, 0x82]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a byte of no sequence', [0xff]],
  ])('security, odd bodies: %s is invalid UTF-8 and so invalid JSON', async (_, odd) => {
    const { send } = notes()
    const body = Uint8Array.from([
      ...new TextEncoder().encode('{"text":"'),
      ...odd,
      ...new TextEncoder().encode('"}'),
    ])
    const answer = await send('POST', '/notes', { body, headers: json })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe(NOT_JSON)
  })

  test('security, odd bodies: UTF-16 is invalid JSON', async () => {
    const { send } = notes()
    const body = new Uint8Array(
      Uint16Array.from('\ufeff{"text":"a"}', (char) => char.charCodeAt(0)).buffer,
    )
    expect((await send('POST', '/notes', { body, headers: json })).body.error).toBe(NOT_JSON)
  })

  test('security, odd bodies: a byte order mark is skipped', async () => {
    const { send } = notes()
    const answer = await send('POST', '/notes', { body: '\ufeff{"text":"a"}', headers: json })
    expect(answer.record.text).toBe('a')
  })

  test.each(['null', '5', '"text"', 'true', '[]', '[{"text":"a"}]', '[{"$set":{"text":"a"}}]'])(
    'answers, Writes: the body %s is no object, so nothing in it is writable',
    async (body) => {
      const { send } = notes()
      for (const [method, path] of [
        ['POST', '/notes'],
        ['PATCH', `/notes/${'a'.repeat(24)}`],
      ] as const) {
        const answer = await send(method, path, { body, headers: json })
        expect(answer.status).toBe(400)
        expect(answer.body.error).toBe('Request body contains no writable fields.')
      }
    },
  )
})

const shapes: [string, (depth: number) => string][] = [
  ['a bare list', (depth) => '['.repeat(depth) + ']'.repeat(depth)],
  ['bare objects', (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
  [
    'lists in a writable field',
    (depth) => `{"text":"a","extra":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ],
  [
    'objects in a writable field',
    (depth) => `{"text":"a","extra":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`,
  ],
  [
    'lists in a field of another type',
    (depth) => `{"text":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ],
  [
    'lists in a denied field',
    (depth) => `{"text":"a","denied":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ],
  ['an unclosed list', (depth) => '['.repeat(depth)],
]

describe('security, deep nesting: deeply nested JSON', () => {
  test.each(shapes)(
    '%s, 10,000 and 100,000 deep, is a 400 on every JSON route, at once',
    async (_, nest) => {
      const { send, log } = notes(1024 * 1024)
      const { record } = await send('POST', '/notes', { json: { text: 'before' } })
      for (const depth of [10_000, 100_000]) {
        for (const [method, path] of [
          ['POST', '/notes'],
          ['PATCH', `/notes/${record._id}`],
          ['QUERY', '/notes'],
        ] as const) {
          const begun = performance.now()
          const answer = await send(method, path, { body: nest(depth), headers: json })
          expect(answer.status, `${method} ${depth}`).toBe(400)
          expect(answer.body.success).toBe(false)
          expect(performance.now() - begun).toBeLessThan(5000)
        }
      }
      expect(log.lines.every((line) => JSON.stringify(line).length < 1000)).toBe(true)
      expect((await send('GET', '/notes')).records).toEqual([record])
    },
  )

  test.each(shapes)('%s, 1,000,000 deep, is over the limit', async (_, nest) => {
    const { send } = notes(1024 * 1024)
    const answer = await send('POST', '/notes', { body: nest(1_100_000), headers: json })
    expect(answer.status).toBe(413)
  })

  test('with a limit that lets 1,000,000 levels in, they are a 400 too', async () => {
    const { send } = notes(16 * 1024 * 1024)
    for (const [, nest] of shapes) {
      const answer = await send('POST', '/notes', { body: nest(1_000_000), headers: json })
      expect(answer.status).toBe(400)
    }
    expect((await send('POST', '/notes', { json: { text: 'alive' } })).status).toBe(201)
  })

  test('brackets inside of a text are no nesting', async () => {
    const { send } = notes(1024 * 1024)
    const text = `\\"${'[{'.repeat(20_000)}\\`
    expect((await send('POST', '/notes', { json: { text } })).record.text).toBe(text)
  })
})
