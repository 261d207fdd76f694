import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('HostThing', { fields: { name: z.string() } })

function things(mount = '/things') {
  const served = service()
  served.app.mount(mount, createRouter({ model: Thing, allowedFields: ['name'], middlewares: [] }))
  return served
}

/** `app.handle` gets what a runtime makes of a raw request, which no `new Request` would hold. */
function raw(path: string, url: string, host: string | null, method = 'GET'): Request {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (host !== null) headers.set('host', host)
  const request = new Request(`http://localhost${path}`, {
    method,
    headers,
    ...(method === 'POST' && { body: '{"name":"a"}' }),
  })
  Object.defineProperty(request, 'url', { value: url })
  return request
}

describe('a Host is a host and an optional port', () => {
  test.each([
    'example.com',
    'EXAMPLE.com:80',
    'a_b.example.',
    'xn--bcher-kva.example',
    '127.0.0.1:65535',
    '[::1]',
    '[2001:db8::1]:8080',
    '[::ffff:127.0.0.1]',
    'example.com:',
    '',
    null,
  ])('%j is served', async (host) => {
    const { app } = things()
    const answer = await app.handle(raw('/things', 'http://localhost/things', host))
    expect(answer.status).toBe(200)
  })

  test.each([
    'h/things?',
    'h/things#',
    'h\\things',
    'user@h',
    'user:pw@h',
    'a b',
    'a, b',
    'a,a',
    '[::1',
    '::1',
    '[1:2]',
    '[fe80::1%25eth0]',
    'h:65536',
    'h:-1',
    'h:8o',
    ':80',
    'a%2fb',
    'h;x',
    'é',
    '1.2.3.400',
    '<script>',
    "'or'1",
  ])('%j is a 400, and the route that it would choose is not asked', async (host) => {
    const { app, log } = things()
    let asked = 0
    app.use(() => {
      asked += 1
    })
    const answer = await app.handle(raw('/x', `http://${host}/x`, host, 'POST'))
    expect(answer.status).toBe(400)
    const body = (await answer.json()) as { error: string; requestId: string }
    expect(body.error).toBe('The Host header must be a host and a port.')
    expect(body.requestId).toBe(answer.headers.get('x-request-id'))
    expect(asked).toBe(0)
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(await app.store.collection(Thing).count()).toBe(0)
  })

  test('one that is longer than a name can be is a 400, however long', async () => {
    const { app } = things()
    const host = `${'a.'.repeat(126)}a`
    expect((await app.handle(raw('/things', 'http://h/things', `${host}.:65535`))).status).toBe(200)
    for (const long of [`${host}.a.b.c.d`, 'a.'.repeat(500_000), `[${':'.repeat(1e6)}`]) {
      expect((await app.handle(raw('/things', 'http://h/things', long))).status).toBe(400)
    }
  })
})

describe('Location is made of the mount', () => {
  test.each([
    ['/things', 'http://localhost//evil.com/../../things'],
    ['/things', 'http://localhost/日本/../things'],
    ['/things', 'http://localhost/things//'],
    ['/things', 'http://localhost/./things?x=//evil.com'],
    ['/things', '/things'],
  ])('mounted at %s, asked for as %s', async (mount, url) => {
    const { app } = things(mount)
    const answer = await app.handle(raw('/things', url, null, 'POST'))
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toMatch(/^\/things\/[0-9a-f]{24}$/)
  })

  test('a parameter of the mount is filled in and encoded', async () => {
    const { send } = things('/shops/:shop/things')
    const answer = await send('POST', '/shops/a%2Fb%20%E6%97%A5/things/', { json: { name: 'a' } })
    expect(answer.headers.get('location')).toBe(
      `/shops/a%2Fb%20%E6%97%A5/things/${answer.record._id}`,
    )
    expect((await send('GET', String(answer.headers.get('location')))).record).toEqual(
      answer.record,
    )
  })
})
