import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { type Message, request, service } from '../service.ts'

const Thing = defineModel('PathThing', { fields: { name: z.string() } })

/** A guarded mount with one record, and the paths that its guard saw. */
async function guarded() {
  const served = service()
  const { app } = served
  const { _id } = await app.store.collection(Thing).insert({ name: 'secret-name' })
  const seen: string[] = []
  const router = createRouter({
    model: Thing,
    allowedFields: ['name'],
    middlewares: [
      ({ url }) => {
        seen.push(new URL(url).pathname)
        return Response.json({ success: false, error: 'Guarded.' }, { status: 401 })
      },
    ],
  })
  router.get('/extra', () => new Response('secret-name'))
  router.get('/files/:name', () => new Response('secret-name'))
  app.mount('/x', router)
  return { ...served, id: _id, seen }
}

const SPELLINGS = [
  '/x',
  '/x/',
  '/x//',
  '//x',
  '///x',
  '/X',
  '/x;a',
  '/x;a=b',
  '/%78',
  '/%58',
  '/./x',
  '/../x',
  '/a/../x',
  '/%2e/x',
  '/%2e%2e/x',
  '/x/.',
  '/x/./',
  '/x/%2e',
  '/x%2f',
  '/x%2F',
  '/x%5c',
  '/x\\',
  '\\x',
  '/x%00',
  '/x%20',
  '/x%09',
  '/x\t',
  '/x?a',
  '/x?/x',
  '/x#y',
  '/x?',
  '/x%3f',
  '/x/<id>',
  '/x/<id>/',
  '/x//<id>',
  '//x/<id>',
  '/X/<id>',
  '/x%2f<id>',
  '/x/%2f<id>',
  '/x/./<id>',
  '/x/../x/<id>',
  '/x/<id>/.',
  '/x/<id>/..',
  '/x/<id>%2f',
  '/x/<id>%00',
  '/x/<id>;a',
  '/x\\<id>',
  '/x/<id>?a=b',
  '/x/<id>#a',
  '/x/%zz',
  '/x/%',
  '/x/%c0%af',
  '/x/<encoded>',
  '/%78/<id>',
  '/x/extra',
  '/x/extra/',
  '/x/%65xtra',
  '/x/EXTRA',
  '/x//extra',
  '/x/extra%2f',
  '/x/files/%zz',
  '/x/files/a',
  '/x/files/%2e%2e',
  '/x/files/a%2fb',
]

const BODIES: Readonly<Record<string, Message>> = {
  POST: { json: { name: 'changed' } },
  PATCH: { json: { name: 'changed' } },
}

describe('security, odd paths: no spelling of a path comes past the guard', () => {
  test.each(SPELLINGS)('%s is guarded or a 404', async (spelling) => {
    const { app, send, id, seen } = await guarded()
    const encoded = Array.from(id, (char) => `%${char.charCodeAt(0).toString(16)}`).join('')
    const path = spelling.replace('<id>', id).replace('<encoded>', encoded)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY', 'POST', 'PATCH', 'DELETE', 'PUT']) {
      seen.length = 0
      const answer = await send(method, path, BODIES[method])
      expect([401, 404], `${method} ${path}`).toContain(answer.status)
      if (answer.status === 401) expect(seen).toHaveLength(1)
      if (answer.status === 404 && method !== 'HEAD') expect(answer.body.error).toBe('Not found.')
      expect(answer.text).not.toContain('secret-name')
    }
    expect(await app.store.collection(Thing).find()).toEqual([{ _id: id, name: 'secret-name' }])
  })

  test('what reaches the handlers is what the guard saw', async () => {
    const served = service()
    const seen: string[] = []
    const router = createRouter({
      model: Thing,
      allowedFields: ['name'],
      middlewares: [({ params }) => void seen.push(`guard ${params.name}`)],
    })
    router.get('/files/:name', ({ params }) => {
      seen.push(`handler ${params.name}`)
      return new Response()
    })
    served.app.mount('/x', router)
    for (const name of ['a', '%61', 'a%2Fb', '%E2%82%AC', '%zz', '%c0%af']) {
      seen.length = 0
      await served.app.handle(request('GET', `/x/files/${name}`))
      expect(seen).toHaveLength(2)
      expect(seen[0]?.replace('guard', 'handler')).toBe(seen[1])
    }
  })

  test('4.1 Resource routes: a trailing slash changes nothing', async () => {
    const { app, send } = service()
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    const created = await send('POST', '/things/', { json: { name: 'a' } })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/things/${created.record._id}`)
    const path = `/things/${created.record._id}/`
    expect((await send('GET', '/things/')).records).toEqual([created.record])
    expect((await send('GET', path)).record).toEqual(created.record)
    expect((await send('PATCH', path, { json: { name: 'b' } })).record.name).toBe('b')
    expect((await send('DELETE', path)).status).toBe(200)
  })

  test('4.1 Resource routes: an id may be percent-encoded, and in upper case', async () => {
    const { app, send } = service()
    app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'] }))
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    const id = String(record._id)
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    expect((await send('GET', `/things/${encoded}`)).record).toEqual(record)
    expect((await send('GET', `/things/${id.toUpperCase()}`)).record).toEqual(record)
  })

  test('4.1 Resource routes: a mount may be the root, or deep', async () => {
    const root = service()
    root.app.mount('/', createRouter({ model: Thing, allowedFields: ['name'] }))
    const created = await root.send('POST', '/', { json: { name: 'a' } })
    expect(created.headers.get('location')).toBe(`/${created.record._id}`)
    expect((await root.send('GET', '/')).records).toEqual([created.record])
    expect((await root.send('GET', `/${created.record._id}`)).record).toEqual(created.record)

    const deep = service()
    deep.app.mount('/api/v1.0/things/', createRouter({ model: Thing, allowedFields: ['name'] }))
    const second = await deep.send('POST', '/api/v1.0/things', { json: { name: 'a' } })
    expect(second.headers.get('location')).toBe(`/api/v1.0/things/${second.record._id}`)
    expect((await deep.send('GET', '/api/v1x0/things')).status).toBe(404)
  })
})
