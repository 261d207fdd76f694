import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Guard } from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('MethodThing', { fields: { name: z.string() } })

function things(options: { enableQuery?: boolean; middlewares?: Guard[] } = {}) {
  const served = service()
  served.app.mount(
    '/things',
    createRouter({ model: Thing, query: ['name'], allowedFields: ['name'], ...options }),
  )
  return served
}

describe('4.1 OPTIONS', () => {
  test('4.1 OPTIONS on the mount: 200 with Allow and Accept-Query, the Allow text as text/plain', async () => {
    const { send } = things()
    for (const path of ['/things', '/things/']) {
      const answer = await send('OPTIONS', path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, QUERY')
      expect(answer.headers.get('accept-query')).toBe('application/json')
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain\b/)
      expect(answer.text).toBe('GET, HEAD, POST, QUERY')
    }
  })

  test('answers, QUERY: OPTIONS on an id allows DELETE, GET, HEAD, PATCH', async () => {
    const { send } = things()
    const answer = await send('OPTIONS', `/things/${'a'.repeat(24)}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, PATCH')
    expect(answer.headers.has('accept-query')).toBe(false)
    expect(answer.text).toBe('DELETE, GET, HEAD, PATCH')
  })

  test('2.6 enableQuery: false takes QUERY out of Allow, drops Accept-Query, and a QUERY is a 405', async () => {
    const { send } = things({ enableQuery: false })
    const options = await send('OPTIONS', '/things')
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST')
    expect(options.text).toBe('GET, HEAD, POST')
    expect(options.headers.has('accept-query')).toBe(false)
    const query = await send('QUERY', '/things', { json: {} })
    expect(query.status).toBe(405)
    expect(query.body.error).toBe('Method not allowed.')
    expect(query.headers.get('allow')).toBe('GET, HEAD, POST')
    expect(query.headers.has('accept-query')).toBe(false)
  })

  test('answers, QUERY: guards run on OPTIONS too', async () => {
    const { send } = things({
      middlewares: [() => Response.json({ success: false, error: 'No.' }, { status: 401 })],
    })
    expect((await send('OPTIONS', '/things')).status).toBe(401)
    expect((await send('OPTIONS', `/things/${'a'.repeat(24)}`)).status).toBe(401)
  })

  test('4.2 any failure: OPTIONS where nothing is mounted is a 404 in the envelope', async () => {
    const { send } = things()
    expect((await send('OPTIONS', '/nothing')).body).toMatchObject({
      success: false,
      error: 'Not found.',
    })
    expect((await send('OPTIONS', '/things/a/b')).status).toBe(404)
  })
})

describe('answers, QUERY: HEAD', () => {
  test('answers, QUERY: HEAD runs the read and no answer to it has a body', async () => {
    const { app, send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    const extra = createRouter({ model: Thing, allowedFields: ['name'] })
    extra.get('/text', () => new Response('a text', { headers: { 'X-Extra': 'yes' } }))
    app.mount('/extra', extra)
    for (const [path, status] of [
      ['/things', 200],
      ['/things?page=1', 200],
      [`/things/${record._id}`, 200],
      [`/things/${'a'.repeat(24)}`, 404],
      ['/things/xyz', 400],
      ['/things?sort=secret', 400],
      ['/nothing', 404],
      ['/extra/text', 200],
    ] as const) {
      const head = await send('HEAD', path)
      expect(head.status, path).toBe(status)
      expect(head.text).toBe('')
      const get = await send('GET', path)
      expect(get.status).toBe(status)
      expect(get.text).not.toBe('')
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      expect(head.headers.get('x-request-id')).not.toBeNull()
    }
  })

  test('answers, QUERY: HEAD has no body when a guard answers or throws either', async () => {
    const answering = things({ middlewares: [() => new Response('no', { status: 403 })] })
    expect(await answering.send('HEAD', '/things')).toMatchObject({ status: 403, text: '' })
    const throwing = things({
      middlewares: [
        () => {
          throw new Error('broken')
        },
      ],
    })
    expect(await throwing.send('HEAD', '/things')).toMatchObject({ status: 500, text: '' })
  })
})

describe('4.1 Resource routes: methods that are not there', () => {
  const ID = 'a'.repeat(24)

  test.each([
    ['PUT', '/things'],
    ['PUT', `/things/${ID}`],
    ['DELETE', '/things'],
    ['PATCH', '/things'],
    ['POST', `/things/${ID}`],
    ['QUERY', `/things/${ID}`],
    ['PROPFIND', '/things'],
    ['ALL', '/things'],
    ['get', '/things'],
  ])('4.1 Resource routes: %s %s', async (method, path) => {
    const { send } = things()
    const answer = await send(method, path)
    // `new Request` itself upper-cases the six common methods.
    if (method === 'get') expect(answer.status).toBe(200)
    else if (method === 'QUERY') {
      expect(answer).toMatchObject({ status: 404, body: { success: false, error: 'Not found.' } })
    } else {
      const body = { success: false, error: 'Method not allowed.' }
      expect(answer).toMatchObject({ status: 405, body })
    }
  })

  test('security, odd methods: patch and query in lower case are other methods, and write nothing', async () => {
    const { send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    // Newer runtimes write QUERY in capitals before anybody sees it, as they do GET.
    const asWritten = (method: string) => new Request('http://a', { method }).method === method
    for (const method of ['patch', 'query', 'Patch', 'QUERy'].filter(asWritten)) {
      const answer = await send(method, `/things/${record._id}`, { json: { name: 'b' } })
      expect(answer.status).toBe(405)
      expect((await send(method, '/things', { json: {} })).status).toBe(405)
    }
    expect((await send('GET', `/things/${record._id}`)).record).toEqual(record)
  })

  test('security, odd methods: a method cannot be overridden by a header, a parameter or a body', async () => {
    const { send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    const headers = {
      'X-HTTP-Method-Override': 'DELETE',
      'X-HTTP-Method': 'DELETE',
      'X-Method-Override': 'DELETE',
    }
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      const message = method === 'POST' ? { json: { _method: 'DELETE' }, headers } : { headers }
      await send(method, `/things/${record._id}?_method=DELETE`, message)
      await send(method, `/things?_method=DELETE&id=${record._id}`, message)
    }
    expect((await send('GET', '/things')).records).toEqual([record])
  })
})

describe('4.1 Write rules: a read-only public router', () => {
  const readOnly: Guard = (request) => {
    if (['GET', 'HEAD', 'OPTIONS', 'QUERY'].includes(request.method)) return
    return Response.json({ success: false, error: 'Method not allowed.' }, { status: 405 })
  }

  test('4.1 Write rules, read-only: a guard that answers 405 stops every write and no read', async () => {
    const { app, send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    app.mount('/public', createRouter({ model: Thing, allowedFields: [], middlewares: [readOnly] }))
    const path = `/public/${record._id}`
    for (const [method, at] of [
      ['POST', '/public'],
      ['PATCH', path],
      ['DELETE', path],
    ] as const) {
      const answer = await send(method, at, method === 'DELETE' ? {} : { json: { name: 'b' } })
      expect(answer.status).toBe(405)
      expect(answer.body.error).toBe('Method not allowed.')
    }
    for (const [method, at] of [
      ['GET', '/public'],
      ['HEAD', '/public'],
      ['OPTIONS', '/public'],
      ['QUERY', '/public'],
      ['GET', path],
    ] as const) {
      expect((await send(method, at)).status, `${method} ${at}`).toBe(200)
    }
    expect((await send('GET', path)).record).toEqual(record)
  })

  test('4.1 Write rules, read-only: an empty allowedFields stops POST and PATCH, not DELETE', async () => {
    const { app, send } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    app.mount('/closed', createRouter({ model: Thing, allowedFields: [] }))
    const nothing = 'Request body contains no writable fields.'
    expect((await send('POST', '/closed', { json: { name: 'b' } })).body.error).toBe(nothing)
    expect((await send('PATCH', `/closed/${record._id}`, { json: { name: 'b' } })).body.error).toBe(
      nothing,
    )
    expect((await send('DELETE', `/closed/${record._id}`)).status).toBe(200)
  })
})
