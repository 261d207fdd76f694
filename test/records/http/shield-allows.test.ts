import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { ControllerSets } from '../../../extras/legacy/index.ts'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type Guard,
  HttpError,
  userFields,
} from '../../../src/index.ts'
import { type Answer, service } from '../service.ts'
import { type Loose, Note, notes, post } from './notes.ts'

async function all(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

describe('what handlers may do', () => {
  const answer = async (path: string, ...route: Loose[]): Promise<Answer> => {
    const on = service()
    const router = createRouter({ model: Note, middlewares: [] })
    ;(router.post as Loose)('/x', ...route)
    on.app.mount('/notes', router)
    return on.send('POST', path, { json: { text: 'x' } })
  }

  test('write to what a guard has kept', async () => {
    const { status, body } = await answer(
      '/notes/x?a=1',
      (request: Loose) => {
        request.account = request.query
      },
      (request: Loose) => {
        request.account.limit = '5'
        return Response.json([request.account, request.query])
      },
    )
    expect([status, body]).toEqual([200, Array(2).fill({ a: '1', limit: '5' })])
  })

  test.each([[[]], [[() => undefined]]])('assign request.body, after %j guards', async (guards) => {
    const { status, body } = await answer('/notes/x', ...guards, async (request: Loose) => {
      request.body = await request.json()
      request.body.owner = 'me'
      return Response.json(request.body)
    })
    expect([status, body]).toEqual([200, { text: 'x', owner: 'me' }])
  })

  test('write after a handler of ControllerSets has returned or thrown, and call the next', async () => {
    const sets = new ControllerSets({
      model: Note,
      middlewares: [(request: Loose) => void request.query.a],
      scope: ({ query }: Loose) => ({ owner: query.fail ? {} : 'me' }),
    } as Loose)
    for (const path of ['/notes/x?a=1', '/notes/x?fail=1']) {
      const { status, body } = await answer(path, async (request: Loose, context: Loose) => {
        const { status } = await sets.create(request, context).catch(() => ({ status: 500 }))
        request.query.x = '1'
        const { status: next } = await sets.getAll(request, context).catch(() => ({ status: 500 }))
        request.query = { y: '2' }
        request.user = { _id: '3' }
        request.body = { z: '4' }
        return Response.json([status, next, request.query, request.user, request.body])
      })
      const [first, next] = path.includes('fail') ? [500, 500] : [201, 200]
      expect([status, body]).toEqual([200, [first, next, { y: '2' }, { _id: '3' }, { z: '4' }]])
    }
  })
})

describe('what guards may still do', () => {
  test('clone what was sent, and who sends it', async () => {
    const seen: unknown[] = []
    const on = notes({
      middlewares: [(request) => void seen.push(structuredClone(request.query))],
      onGet: ({ query }) => ({ select: structuredClone(query).text as string }),
    })
    expect((await on.send('GET', '/notes?text=text')).status).toBe(200)
    expect(seen).toEqual([{ text: 'text' }])
  })

  test('receive any names in the query', async () => {
    const on = notes({ middlewares: [(request) => void request.query.text, () => undefined] })
    for (const name of ['__proto__', 'constructor', 'toString', 'a.b', '0']) {
      expect((await on.send('GET', `/notes?${name}=1&${name}=2`)).status).not.toBe(500)
    }
  })

  test('hand the body to what reads streams, print it and compare it', async () => {
    const { Readable } = await import('node:stream')
    const { pipeline } = await import('node:stream/promises')
    const { inspect, types } = await import('node:util')
    const reads: readonly ((body: Loose) => unknown)[] = [
      (body) => new Response(body).text(),
      (body) => new Request('http://a/', { method: 'POST', body, duplex: 'half' } as object).text(),
      (body) => all(body),
      (body) => all(Readable.fromWeb(body)),
      (body) => pipeline(body, async (chunks: Loose) => void (await all(chunks))),
      (body) => new Response(body.pipeThrough(new TransformStream())).text(),
      (body) => body.pipeTo(new WritableStream()),
      (body) => [inspect(body), types.isProxy(body), String(body)],
      (body) => expect(body).not.toEqual({ text: 'x' }),
      (body) => expect(() => expect(body).toEqual({ text: 'x' })).toThrow('expected'),
      async (body) => (await body) === body,
    ]
    for (const read of reads) {
      const on = service()
      on.app.use(async ({ body }) => {
        await read(body)
        return new Response('read')
      })
      expect([String(read), (await post(on)).text, on.log.text]).toEqual([String(read), 'read', ''])
    }
  })

  test('read the body in every way, and the route reads it again from a copy', async () => {
    const seen: unknown[] = []
    const on = notes({
      middlewares: [
        async (request) => {
          const copies = [1, 2, 3, 4].map(() => request.clone())
          const [json, text, passed, streamed] = copies as [Request, Request, Request, Request]
          seen.push(await json.json(), await text.text())
          seen.push(await new Response(passed.body).json())
          seen.push((await streamed.body?.getReader().read())?.value?.length)
        },
      ],
    })
    expect((await post(on)).status).toBe(201)
    const json = { text: 'x', owner: 'you' }
    expect(seen).toEqual([json, JSON.stringify(json), json, JSON.stringify(json).length])
  })

  test('take the body: its stream works as one', async () => {
    const seen: unknown[] = []
    const on = service()
    on.app.use(async ({ body }) => {
      const [one, two] = (body as ReadableStream<Uint8Array>).tee()
      seen.push(body === null, body instanceof ReadableStream, body?.locked)
      seen.push(await new Response(one).json())
      for await (const chunk of two) seen.push(chunk.length)
      return new Response('taken')
    })
    expect((await on.send('POST', '/', { json: { a: 1 } })).text).toBe('taken')
    expect(seen).toEqual([false, true, true, { a: 1 }, 7])
  })

  test('pass the request on to another app, whose guards are shielded too', async () => {
    const inner = notes({ middlewares: [() => undefined, (request: Loose) => request.query.text] })
    const outer = service()
    outer.app.use((request) => inner.app.handle(request))
    expect((await outer.send('POST', '/notes', { json: { text: 'x' } })).status).toBe(201)
    const wrong = notes({ middlewares: [(req: Loose) => Object.assign(req.body, { owner: 'me' })] })
    const around = service()
    around.app.use((request) => wrong.app.handle(request))
    expect((await post(around)).status).toBe(500)
  })

  test('define request.query anew, as upstream told to', async () => {
    const on = notes({
      middlewares: [
        (request) => void Object.defineProperty(request, 'query', { value: { owner: 'me' } }),
        () => undefined,
      ],
    })
    const records = on.app.store.collection(Note)
    await records.insert({ text: 'a', owner: 'me' })
    await records.insert({ text: 'b', owner: 'you' })
    expect((await on.send('GET', '/notes?text=b')).records).toMatchObject([{ text: 'a' }])
  })

  test('read the query, set request.auth, and add members of their own', async () => {
    const seen: unknown[] = []
    const on = notes({
      middlewares: [
        (request: Loose) => {
          seen.push({ ...request.query }, Object.keys(request.query), JSON.stringify(request.query))
          request.auth = { userId: 'ann' }
          request.tenant = 'acme'
        },
        (request: Loose) => {
          seen.push(request.auth, request.tenant)
          if (!request.query.text) throw new HttpError(400, 'no text')
        },
      ],
    })
    expect((await on.send('GET', '/notes?text=b')).status).toBe(200)
    const query = { text: 'b' }
    expect(seen).toEqual([query, ['text'], JSON.stringify(query), { userId: 'ann' }, 'acme'])
  })
})

describe('request.user', () => {
  test('has id beside _id, once in JSON, and cannot be written by guards', async () => {
    const User = defineModel('User', {
      fields: {
        ...userFields(),
        name: z.string().optional(),
        emails: z.array(z.object({ verified: z.boolean() })).default([{ verified: false }]),
      },
      unique: ['email'],
    })
    const auth = createAuthRouter({
      model: User,
      token: { secret: 'a secret that is only good for tests 1' },
    })
    const seen: Loose[] = []
    const promotions: Readonly<Record<string, (req: Loose) => void>> = {
      'request.user.role': (req) => {
        req.user.role = 'admin'
      },
      'request.user.emails.0.verified': (req) => {
        req.user.emails[0].verified = true
      },
      'request.user.id': new Function('req', "req.user.id = '1'") as (req: Loose) => void,
    }
    const on = service()
    on.app.mount('/auth', auth.router)
    on.app.mount(
      '/mine',
      createRouter({
        model: Note,
        middlewares: [auth.requireAuth],
        validate: (payload, { req }) => {
          seen.push(
            req.user?.id,
            req.user?._id,
            JSON.stringify(req.user),
            structuredClone(req.user),
          )
          return { ...payload, owner: String(req.user?.id) }
        },
      }),
    )
    for (const [what, promote] of Object.entries(promotions)) {
      const middlewares = [auth.requireAuth, promote as Guard]
      on.app.mount(`/${what}`, createRouter({ model: Note, middlewares }))
    }
    const json = { email: 'ann@example.com', password: 'a long enough password' }
    const { token } = (await on.send('POST', '/auth/register', { json })).record
    const headers = { authorization: `Bearer ${token}` }
    const note = await on.send('POST', '/mine', { json: { text: 'a' }, headers })
    const [id, _id, text, copy] = seen
    expect(id).toMatch(/^[0-9a-f]{24}$/)
    expect([_id, note.record.owner]).toEqual([id, id])
    expect(text).not.toContain('"id"')
    expect(copy).not.toHaveProperty('id')
    for (const what of Object.keys(promotions)) {
      expect((await on.send('GET', `/${what}`, { headers })).status).toBe(500)
      expect(on.log.text).toContain(`${what}`)
    }
  })

  test("a field named 'id' stays what it is", async () => {
    const User = defineModel('User', {
      fields: { ...userFields(), id: z.string().optional() },
      unique: ['email'],
    })
    const auth = createAuthRouter({
      model: User,
      token: { secret: 'a secret that is only good for tests 1' },
      registerFields: ['id'],
    })
    const on = service()
    on.app.mount('/auth', auth.router)
    const router = createRouter({ model: Note, middlewares: [auth.requireAuth] })
    router.get('/who', (request) => Response.json({ id: request.user?.id }))
    on.app.mount('/notes', router)
    const json = { email: 'ann@example.com', password: 'a long enough password', id: 'A-1' }
    const { token } = (await on.send('POST', '/auth/register', { json })).record
    const headers = { authorization: `Bearer ${token}` }
    expect((await on.send('GET', '/notes/who', { headers })).body).toEqual({ id: 'A-1' })
  })
})
