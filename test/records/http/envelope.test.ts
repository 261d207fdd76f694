import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { createRouter, defineModel, HttpError, ValidationError } from '../../../src/index.ts'
import { RefusedWrite } from '../../../src/ports/store/store-errors.ts'
import { type Answer, service } from '../service.ts'

const Thing = defineModel('EnvelopeThing', {
  fields: { name: z.string(), code: z.string().optional(), size: z.number().optional() },
  unique: ['code'],
  indexes: ['name'],
})

function things() {
  const served = service({ maxBodySize: 1000 })
  served.app.mount(
    '/things',
    createRouter({ model: Thing, query: ['name'], allowedFields: ['name', 'code', 'size'] }),
  )
  return served
}

const UNKNOWN_ID = 'f'.repeat(24)
const JSON_TYPE = 'application/json; charset=utf-8'

function expectFailure(answer: Answer, status: number, error: string) {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe(JSON_TYPE)
  expect(answer.body).toEqual({
    success: false,
    error,
    requestId: answer.headers.get('x-request-id'),
  })
}

describe('2.2 Response envelope and 4.2 Response bodies by route', () => {
  test('4.2 POST / · 4.2 GET /:id · 4.2 PATCH /:id · 2.2 success · 2.2 data: success true and the record as data, nothing else', async () => {
    const { send } = things()
    const created = await send('POST', '/things', { json: { name: 'a' } })
    const path = `/things/${created.record._id}`
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ success: true, data: { _id: created.record._id, name: 'a' } })
    const read = await send('GET', path)
    expect(read.status).toBe(200)
    expect(read.body).toEqual(created.body)
    const updated = await send('PATCH', path, { json: { size: 2 } })
    expect(updated.status).toBe(200)
    expect(updated.body).toEqual({
      success: true,
      data: { _id: created.record._id, name: 'a', size: 2 },
    })
    for (const answer of [created, read, updated])
      expect(answer.headers.get('content-type')).toBe(JSON_TYPE)
  })

  test('4.2 GET / · 4.2 QUERY / · 2.2 pagination: success true and the records as data; pagination when paginated', async () => {
    const { send } = things()
    await send('POST', '/things', { json: { name: 'a' } })
    const plain = await send('GET', '/things')
    expect(plain.status).toBe(200)
    expect(Object.keys(plain.body)).toEqual(['success', 'data'])
    expect(plain.records).toHaveLength(1)
    expect((await send('QUERY', '/things')).text).toBe(plain.text)
    const paged = await send('GET', '/things?page=1')
    expect(Object.keys(paged.body)).toEqual(['success', 'data', 'pagination'])
    expect(paged.body.pagination).toEqual({
      currentPage: 1,
      pageSize: 50,
      totalPages: 1,
      totalRecords: 1,
    })
  })

  test("4.2 DELETE /:id · 2.2 message: success true and the message 'Item successfully deleted.'", async () => {
    const { send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    const deleted = await send('DELETE', `/things/${record._id}`)
    expect(deleted.status).toBe(200)
    expect(deleted.body).toEqual({ success: true, message: 'Item successfully deleted.' })
    expect((await send('GET', `/things/${record._id}`)).status).toBe(404)
  })

  test('4.2 any failure · 2.2 error · 2.2 requestId: success false, error and requestId, in this envelope on every route', async () => {
    const { send } = things()
    expectFailure(await send('GET', '/nowhere'), 404, 'Not found.')
    expectFailure(await send('PUT', '/things', { json: {} }), 405, 'Method not allowed.')
    expectFailure(
      await send('PUT', `/things/${UNKNOWN_ID}`, { json: { name: 'a' } }),
      405,
      'Method not allowed.',
    )
    expectFailure(await send('QUERY', `/things/${UNKNOWN_ID}`), 404, 'Not found.')
    expectFailure(await send('DELETE', '/things'), 405, 'Method not allowed.')
    expectFailure(
      await send('PATCH', '/things', { json: { name: 'a' } }),
      405,
      'Method not allowed.',
    )
    expectFailure(
      await send('POST', `/things/${UNKNOWN_ID}`, { json: { name: 'a' } }),
      405,
      'Method not allowed.',
    )
    expectFailure(await send('GET', '/things/xyz'), 400, 'Invalid ID format.')
    expectFailure(await send('GET', `/things/${UNKNOWN_ID}`), 404, 'Entry not found.')
    expectFailure(
      await send('POST', '/things', { json: {} }),
      400,
      'Request body contains no writable fields.',
    )
  })
})

describe('7 Errors: a status for each reason', () => {
  test('7 Errors: 400 malformed id, on every route with an id, before anything else is looked at', async () => {
    const { send } = things()
    for (const id of [
      'x',
      '1',
      'z'.repeat(24),
      'a'.repeat(23),
      'a'.repeat(25),
      '%00',
      '..%2f',
      "'--",
      '%F0%9F%92%A9',
      '%zz',
      '%',
    ]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const message =
          method === 'PATCH'
            ? { body: '{not json', headers: { 'content-type': 'application/json' } }
            : {}
        expectFailure(await send(method, `/things/${id}`, message), 400, 'Invalid ID format.')
      }
    }
  })

  test('4.1 Write rules, 6: no record with that id is a 404 on GET, PATCH and DELETE', async () => {
    const { send } = things()
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const message = method === 'PATCH' ? { json: { name: 'a' } } : {}
      expectFailure(await send(method, `/things/${UNKNOWN_ID}`, message), 404, 'Entry not found.')
    }
  })

  test('answers, Writes: DELETE of an absent id is a 404, the second time too', async () => {
    const { send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    expect((await send('DELETE', `/things/${record._id}`)).status).toBe(200)
    expectFailure(await send('DELETE', `/things/${record._id}`), 404, 'Entry not found.')
  })

  test('7 Errors: 400 failed validation, with fields', async () => {
    const { send } = things()
    const answer = await send('POST', '/things', { json: { size: 'many' } })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: 'Check the submitted values.' })
    expect(Object.keys(answer.body.fields ?? {})).toEqual(['name', 'size'])
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'))
  })

  test('7 Errors: 409 a unique value that is taken, with fields', async () => {
    const { send } = things()
    await send('POST', '/things', { json: { name: 'a', code: 'X' } })
    const answer = await send('POST', '/things', { json: { name: 'b', code: 'X' } })
    expect(answer.status).toBe(409)
    expect(answer.body).toEqual({
      success: false,
      error: 'Duplicate value for: code.',
      fields: { code: 'Already exists.' },
      requestId: answer.headers.get('x-request-id'),
    })
  })

  test.each([
    ['reference', ['code'], 400, 'Invalid value for code.', ['code']],
    ['reference', [], 400, 'Check the submitted values.', []],
    ['referenced', ['code'], 409, 'Entry is still referenced.', undefined],
    ['overlap', ['code'], 409, 'Overlaps an existing entry.', undefined],
    ['size', [], 413, 'The record is too large for the database.', undefined],
    ['value', ['name', 'code'], 400, 'Check the submitted values.', ['name', 'code']],
  ] as const)(
    "7 Errors: a rule of the database's own refuses a write: %s of %j is a %i",
    async (rule, fields, status, error, told) => {
      const { app, send } = things()
      app.post('/refused', () => {
        throw new RefusedWrite(rule, fields)
      })
      const { body, ...answer } = await send('POST', '/refused')
      expect([answer.status, body.error]).toEqual([status, error])
      expect(body.fields && Object.keys(body.fields)).toEqual(told)
    },
  )

  test('7 Errors: 401 and 403 come from guards that throw', async () => {
    const { app, send } = things()
    for (const status of [401, 403]) {
      const guard = () => {
        throw new HttpError(status, 'No.')
      }
      app.mount(
        `/guarded${status}`,
        createRouter({ model: Thing, allowedFields: ['name'], middlewares: [guard] }),
      )
      expectFailure(await send('GET', `/guarded${status}`), status, 'No.')
    }
  })

  test('7 Errors: 413 a JSON body over the limit', async () => {
    const { send } = things()
    const answer = await send('POST', '/things', { json: { name: 'x'.repeat(1000) } })
    expectFailure(answer, 413, 'Request body exceeds the limit of 1000 bytes.')
  })

  test('7 Errors: 415 a QUERY body that is not JSON', async () => {
    const { send } = things()
    const answer = await send('QUERY', '/things', {
      body: 'name=a',
      headers: { 'content-type': 'text/plain' },
    })
    expectFailure(answer, 415, 'QUERY body must be sent as application/json.')
    expect(answer.headers.get('accept-query')).toBe('application/json')
  })

  test('7 Errors: 500 anything unexpected, detail logged and never sent', async () => {
    const { app, send, log } = things()
    app.use((request) => {
      if (new URL(request.url).pathname === '/broken') throw new Error('the password is hunter2')
    })
    const answer = await send('GET', '/broken')
    expectFailure(answer, 500, 'Internal Server Error')
    expect(answer.text).not.toContain('hunter2')
    expect(log.lines).toHaveLength(1)
    expect(log.lines[0]).toMatchObject({
      level: 'error',
      message: 'request failed',
      details: { requestId: answer.body.requestId, method: 'GET', path: '/broken', status: 500 },
    })
    expect(String(log.lines[0]?.details.error)).toContain('the password is hunter2\n    at ')
  })

  test('security, envelopes · 2.2 fields: fields never stand on a 5xx, whatever threw them', async () => {
    const { app, send } = things()
    const fields = { name: 'taken' }
    const thrown = [
      new HttpError(503, 'Later.', { fields }),
      new ValidationError('Later.', fields, 500),
    ]
    app.use((request) => {
      const [at] = thrown.splice(0, 1)
      if (request.url.endsWith('/broken') && at) throw at
    })
    expectFailure(await send('GET', '/broken'), 503, 'Later.')
    expectFailure(await send('GET', '/broken'), 500, 'Later.')
  })

  test('answers, Envelope and errors: HttpError carries headers and fields, ValidationError a status', async () => {
    const { app, send } = things()
    app.use((request) => {
      if (request.url.endsWith('/one')) {
        throw new HttpError(429, 'Slow down.', {
          headers: { 'Retry-After': '5' },
          fields: { name: 'too often' },
        })
      }
      if (request.url.endsWith('/two'))
        throw new ValidationError('Look again.', { name: 'is odd' }, 422)
      if (request.url.endsWith('/three')) throw new ValidationError('Look again.')
    })
    const one = await send('GET', '/one')
    expect(one.status).toBe(429)
    expect(one.headers.get('retry-after')).toBe('5')
    expect(one.body).toMatchObject({ error: 'Slow down.', fields: { name: 'too often' } })
    const two = await send('GET', '/two')
    expect(two.status).toBe(422)
    expect(two.body).toMatchObject({ error: 'Look again.', fields: { name: 'is odd' } })
    const three = await send('GET', '/three')
    expect(three.status).toBe(400)
    expect(three.body).not.toHaveProperty('fields')
  })

  test.each([
    ['zod', z],
    ['zod/mini', mini],
  ] as const)(
    '7 Errors: 400 for an error of a %s schema, whoever parsed with it',
    async (_, zod) => {
      const { app, send, log } = things()
      const Import = zod.object({ rows: zod.array(zod.object({ name: zod.string() })) })
      const router = createRouter({ model: Thing, allowedFields: ['name'] })
      router.post('/import', async (request) => {
        zod.parse(Import, await request.json())
      })
      app.mount('/imports', router)
      const answer = await send('POST', '/imports/import', {
        json: { rows: [{ name: 'a' }, { name: 5 }] },
      })
      expect(answer.status).toBe(400)
      expect(answer.body).toEqual({
        success: false,
        error: 'Check the submitted values.',
        fields: { 'rows.1.name': expect.any(String) },
        requestId: answer.headers.get('x-request-id'),
      })
      expect(log.lines).toMatchObject([
        { level: 'info', details: { error: 'Check the submitted values.' } },
      ])
    },
  )

  test.each([200, 302, 399, 600, 999, 0, -1, 400.5, '400', 'x', undefined, null, Number.NaN])(
    'security, hooks that misbehave: an HttpError with the status %s is a plain 500',
    async (status) => {
      const { app, send } = things()
      app.use(() => {
        throw new HttpError(status as number, 'a detail', { fields: { a: 'b' } })
      })
      expectFailure(await send('GET', '/things'), 500, 'Internal Server Error')
    },
  )

  test.each([
    undefined,
    null,
    'a detail',
    5,
    { status: 400, message: 'a detail' },
    Object.create(null),
    Symbol('a detail'),
  ])('security, hooks that misbehave: a guard that throws %o gives a plain 500', async (thrown) => {
    const { app, send, log } = things()
    app.use(() => {
      throw thrown
    })
    app.use(async () => {
      throw thrown
    })
    const answer = await send('GET', '/things')
    expectFailure(answer, 500, 'Internal Server Error')
    expect(log.lines).toHaveLength(1)
  })
})
