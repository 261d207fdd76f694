import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  HttpError,
  type Payload,
  type Validate,
  type ValidateContext,
  type ValidateOption,
  ValidationError,
} from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('HookThing', {
  fields: {
    name: z.string(),
    role: z.string().optional(),
    extra: z.any().optional(),
    count: z.number().optional(),
  },
  timestamps: true,
})
type Fields = Payload<{ name: string; role: string; extra: unknown; count: number }>

function things(validate: ValidateOption<Fields>) {
  const served = service()
  served.app.mount(
    '/things',
    createRouter({ model: Thing, allowedFields: ['name', 'extra', 'count'], validate }),
  )
  return { ...served, stored: served.app.store.collection(Thing) }
}

/** A hook as a JavaScript user may write it. */
const loose = (hook: (payload: Record<string, unknown>, context: ValidateContext) => unknown) =>
  hook as unknown as Validate<Fields>

describe('4.1 Write rules, 3: what the validate hook receives', () => {
  test('4.1 Write rules, 3: null as it was sent, and what it returns may be null', async () => {
    const seen: unknown[] = []
    const { send, stored } = things(
      loose((payload) => {
        seen.push({ ...payload })
        return payload.name === 'clear' ? { ...payload, count: null } : payload
      }),
    )
    const { record } = await send('POST', '/things', { json: { name: 'a', count: null } })
    expect(record).not.toHaveProperty('count')
    const path = `/things/${record._id}`
    await send('PATCH', path, { json: { count: 3 } })
    await send('PATCH', path, { json: { name: 'clear' } })
    expect(await stored.findById(String(record._id))).not.toHaveProperty('count')
    expect(seen).toEqual([{ name: 'a', count: null }, { count: 3 }, { name: 'clear' }])
  })

  test('4.1 Write rules, 3: the filtered payload and req, res, operation, id, model', async () => {
    const calls: [Fields, ValidateContext][] = []
    const { send } = things((payload, context) => void calls.push([{ ...payload }, context]))
    const created = await send('POST', '/things?from=test', {
      json: { name: 'a', role: 'admin', _id: 'x' },
    })
    const id = String(created.record._id)
    await send('PATCH', `/things/${id.toUpperCase()}`, { json: { count: '3', role: 'admin' } })
    expect(calls).toHaveLength(2)
    const [[first, onCreate], [second, onUpdate]] = calls as [
      [Fields, ValidateContext],
      [Fields, ValidateContext],
    ]
    expect(first).toEqual({ name: 'a' })
    expect(onCreate).toMatchObject({ operation: 'create', id: undefined })
    expect(onCreate.model.name).toBe('HookThing')
    expect(onCreate.req.query.from).toBe('test')
    expect(onCreate.req.requestId).toBe(created.headers.get('x-request-id'))
    expect(onCreate.res.headers).toBeInstanceOf(Headers)
    // The hook runs before casting and schema validation, so it sees what the client wrote.
    expect(second).toEqual({ count: '3' })
    expect(onUpdate).toMatchObject({ operation: 'update', id })
  })

  test('4.1 Write rules, 3: it may see required fields missing', async () => {
    const seen: unknown[] = []
    const { send } = things((payload) => void seen.push(payload.name))
    const answer = await send('POST', '/things', { json: { count: 1 } })
    expect(seen).toEqual([undefined])
    expect(answer.body.fields).toHaveProperty('name')
  })

  test('2.6 validate: { create, update } are two hooks, and the one not given is none', async () => {
    const trace: string[] = []
    const { send } = things({ create: (_, { operation }) => void trace.push(operation) })
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    await send('PATCH', `/things/${record._id}`, { json: { name: 'b' } })
    expect(trace).toEqual(['create'])
    const other = things({ update: (_, { operation }) => void trace.push(operation) })
    const second = await other.send('POST', '/things', { json: { name: 'a' } })
    await other.send('PATCH', `/things/${second.record._id}`, { json: { name: 'b' } })
    expect(trace).toEqual(['create', 'update'])
  })

  test('4.1 Write rules, order: it does not run for what the policy refuses', async () => {
    let runs = 0
    const { send } = things(() => {
      runs += 1
    })
    await send('POST', '/things', { json: { role: 'admin' } })
    await send('PATCH', '/things/xyz', { json: { name: 'a' } })
    await send('POST', '/things', { body: '{', headers: { 'content-type': 'application/json' } })
    expect(runs).toBe(0)
  })

  test('answers, Writes: on PATCH it runs before existence is looked at', async () => {
    const { send } = things(() => {
      throw new HttpError(402, 'Pay first.')
    })
    const answer = await send('PATCH', `/things/${'a'.repeat(24)}`, { json: { name: 'b' } })
    expect(answer).toMatchObject({ status: 402, body: { error: 'Pay first.' } })
  })
})

describe('4.1 Write rules, 3: what the validate hook returns', () => {
  test.each([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a promise of nothing', async () => {}],
  ])('answers, Writes: %s keeps the payload', async (_, hook) => {
    const { send } = things(loose(hook))
    const { record } = await send('POST', '/things', { json: { name: 'a', count: 1 } })
    expect(record).toMatchObject({ name: 'a', count: 1 })
  })

  test('4.1 Write rules, 3: a payload changed in place and kept is stripped too', async () => {
    const { send } = things(
      loose((payload) => {
        payload.name = 'changed'
        payload.$set = { role: 'admin' }
        payload.extra = { constructor: 1, ok: 1 }
      }),
    )
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    expect(record).toMatchObject({ name: 'changed', extra: { ok: 1 } })
    expect(record.extra).toEqual({ ok: 1 })
    expect(record).not.toHaveProperty('role')
  })

  test('4.1 Write rules, 3: an object replaces the payload, on create and on update', async () => {
    const { send } = things(async (payload) => ({ name: `${payload.name}!`, role: 'member' }))
    const { record } = await send('POST', '/things', { json: { name: 'a', count: 1 } })
    expect(record).toMatchObject({ name: 'a!', role: 'member' })
    expect(record).not.toHaveProperty('count')
    const updated = await send('PATCH', `/things/${record._id}`, { json: { name: 'b', count: 2 } })
    expect(updated.record).toMatchObject({ name: 'b!', role: 'member' })
    expect(updated.record).not.toHaveProperty('count')
  })

  test('security, hooks: never-writable keys that it returns are stripped again, at every level', async () => {
    const { send, stored } = things(
      loose(() =>
        JSON.parse(
          '{"name":"a","_id":"ffffffffffffffffffffffff","__v":1,"createdAt":"2000-01-01","updatedAt":"2000-01-01","$set":{},"a.b":1,"__proto__":{"role":"x"},"constructor":1,"prototype":1,"extra":{"in":[{"$inc":1,"__proto__":{"polluted":1},"ok":1}]}}',
        ),
      ),
    )
    const { record } = await send('POST', '/things', { json: { name: 'x' } })
    expect(record._id).not.toBe('f'.repeat(24))
    expect(Object.keys(record)).toEqual(['_id', 'name', 'extra', 'createdAt', 'updatedAt'])
    expect(record.extra).toEqual({ in: [{ ok: 1 }] })
    expect(String(record.createdAt)).toMatch(/^2024/)
    const path = `/things/${record._id}`
    expect((await send('PATCH', path, { json: { name: 'x' } })).record).toEqual(record)
    expect(await stored.count()).toBe(1)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test.each([
    ['a list', []],
    ['a list of objects', [{ name: 'a' }]],
    ['a text', 'name'],
    ['an empty text', ''],
    ['a number', 5],
    ['zero', 0],
    ['true', true],
    ['false', false],
    ['a function', () => ({ name: 'a' })],
    ['a symbol', Symbol('a')],
    ['a Date', new Date()],
  ])('answers, Writes: %s is a 500, and nothing is written', async (_, returned) => {
    for (const hook of [() => returned, async () => returned]) {
      const { send, stored } = things(loose(hook))
      const before = await stored.insert({ name: 'before' })
      for (const [method, path] of [
        ['POST', '/things'],
        ['PATCH', `/things/${before._id}`],
      ] as const) {
        const answer = await send(method, path, { json: { name: 'x' } })
        expect(answer.status).toBe(500)
        expect(answer.body).toEqual({
          success: false,
          error: 'Internal Server Error',
          requestId: answer.body.requestId,
        })
      }
      expect(await stored.find()).toEqual([before])
    }
  })

  test('security, hooks: keys that every object has are no fields, and are dropped', async () => {
    const { send } = things(
      loose(() => ({ name: 'a', toString: 'x', valueOf: 'x', hasOwnProperty: 'x' })),
    )
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    const patched = await send('PATCH', `/things/${record._id}`, { json: { name: 'b' } })
    expect(patched.record).toEqual(record)
    expect(Object.keys(record)).toEqual(['_id', 'name', 'createdAt', 'updatedAt'])
  })

  test('4.1 Write rules, 4: what it returns is validated by the schema like the payload', async () => {
    const { send } = things(loose(() => ({ name: 5 })))
    const answer = await send('POST', '/things', { json: { name: 'a' } })
    expect(answer.status).toBe(400)
    expect(answer.body.fields).toHaveProperty('name')
  })
})

describe('4.1 Write rules, 3: what the validate hook throws', () => {
  test.each([
    ['ValidationError(message)', new ValidationError('No.'), 400, undefined],
    [
      'ValidationError(message, fields)',
      new ValidationError('No.', { name: 'is odd', 'a.0.b': 'too' }),
      400,
      { name: 'is odd', 'a.0.b': 'too' },
    ],
    [
      'ValidationError(message, fields, 422)',
      new ValidationError('No.', { name: 'is odd' }, 422),
      422,
      { name: 'is odd' },
    ],
    [
      'ValidationError(message, undefined, 409)',
      new ValidationError('No.', undefined, 409),
      409,
      undefined,
    ],
    ['HttpError(403, message)', new HttpError(403, 'No.'), 403, undefined],
    [
      'HttpError(503, message)',
      new HttpError(503, 'No.', { fields: { name: 'is odd' } }),
      503,
      undefined,
    ],
  ])(
    '4.1 Write rules, 3: %s gives its status, message and fields',
    async (_, error, status, fields) => {
      for (const hook of [
        () => {
          throw error
        },
        () => Promise.reject(error),
      ]) {
        const { send, stored } = things(loose(hook))
        const before = await stored.insert({ name: 'before' })
        for (const [method, path] of [
          ['POST', '/things'],
          ['PATCH', `/things/${before._id}`],
        ] as const) {
          const answer = await send(method, path, { json: { name: 'x' } })
          expect(answer.status).toBe(status)
          expect(answer.body).toEqual({
            success: false,
            error: 'No.',
            ...(fields && { fields }),
            requestId: answer.body.requestId,
          })
        }
        expect(await stored.find()).toEqual([before])
      }
    },
  )

  test("answers, Writes: an HttpError's headers are set on the answer", async () => {
    const { send } = things(() => {
      throw new HttpError(429, 'Slow down.', { headers: { 'Retry-After': '5' } })
    })
    const answer = await send('POST', '/things', { json: { name: 'a' } })
    expect(answer.headers.get('retry-after')).toBe('5')
  })

  test.each([
    new Error('a secret detail'),
    new TypeError('a secret detail'),
    'a secret detail',
    { status: 400, message: 'a secret detail' },
    null,
    undefined,
    400,
  ])('4.1 Write rules, 3: any other throw is a 500: %o', async (thrown) => {
    const { send, stored, log } = things(() => {
      throw thrown
    })
    const answer = await send('POST', '/things', { json: { name: 'a' } })
    expect(answer.status).toBe(500)
    expect(answer.body).toEqual({
      success: false,
      error: 'Internal Server Error',
      requestId: answer.body.requestId,
    })
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    expect(await stored.count()).toBe(0)
  })

  test('4.1 Write rules, 3: any other throw is a 500, an error of a schema too, and its cause is logged', async () => {
    const { send, log } = things(() => z.object({ name: z.number() }).parse({ name: 'a' }) as never)
    const answer = await send('POST', '/things', { json: { name: 'a' } })
    expect(answer.status).toBe(500)
    expect(answer.body.error).toBe('Internal Server Error')
    expect(String(log.lines[0]?.details.error)).toMatch(
      /validate hook failed[\s\S]*caused by: [\s\S]*ZodError/,
    )
  })

  test('security, hooks: a hook that never settles writes nothing', async () => {
    const { app, send, stored } = things(
      loose(({ name }) => (name === 'stuck' ? new Promise(() => {}) : undefined)),
    )
    const stuck = send('POST', '/things', { json: { name: 'stuck' } })
    const others = await Promise.all(
      ['a', 'b', 'c'].map((name) => send('POST', '/things', { json: { name } })),
    )
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(await stored.count()).toBe(3)
    expect(await Promise.race([stuck, app.ready().then(() => 'pending')])).toBe('pending')
  })
})

describe('answers, Writes: res', () => {
  test('answers, Writes: res.status and res.headers apply to a successful answer', async () => {
    const { send } = things((_, { res, operation }) => {
      res.status = operation === 'create' ? 202 : 203
      res.headers.set('X-Checked', operation)
      res.headers.append('Set-Cookie', 'a=1')
      res.headers.append('Set-Cookie', 'b=2')
    })
    const created = await send('POST', '/things', { json: { name: 'a' } })
    expect(created.status).toBe(202)
    expect(created.record.name).toBe('a')
    expect(created.headers.get('x-checked')).toBe('create')
    expect(created.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(created.headers.get('location')).toBe(`/things/${created.record._id}`)
    expect(created.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const updated = await send('PATCH', `/things/${created.record._id}`, { json: { name: 'b' } })
    expect(updated.status).toBe(203)
    expect(updated.headers.get('x-checked')).toBe('update')
  })

  test('answers, Writes: a header that the answer has itself is replaced, not doubled', async () => {
    const { send } = things((_, { res }) => {
      res.headers.set('Location', '/elsewhere')
    })
    const created = await send('POST', '/things', { json: { name: 'a' } })
    expect(created.headers.get('location')).toBe('/elsewhere')
  })

  test('answers, Writes: they do not apply to an answer that fails', async () => {
    const { send } = things((payload, { res }) => {
      res.status = 202
      res.headers.set('X-Checked', 'yes')
      if (payload.name === 'refused') throw new HttpError(403, 'No.')
    })
    const refused = await send('POST', '/things', { json: { name: 'refused' } })
    expect(refused.status).toBe(403)
    expect(refused.headers.has('x-checked')).toBe(false)
    const invalid = await send('POST', '/things', { json: { name: 5 } })
    expect(invalid.status).toBe(400)
    expect(invalid.headers.has('x-checked')).toBe(false)
    const absent = await send('PATCH', `/things/${'a'.repeat(24)}`, { json: { name: 'b' } })
    expect(absent.status).toBe(404)
    expect(absent.headers.has('x-checked')).toBe(false)
  })

  test('answers, Writes: a status that allows no body sends none', async () => {
    const { send } = things((_, { res }) => {
      res.status = 204
    })
    const created = await send('POST', '/things', { json: { name: 'a' } })
    expect(created).toMatchObject({ status: 204, text: '' })
  })

  test.each([0, 99, 100, 101, 199, 600, 999, 201.5, Number.NaN, '202', null])(
    'security, hooks that misbehave: the impossible res.status %o is a 500 before anything is written',
    async (status) => {
      const { send, stored } = things((_, { res }) => {
        res.status = status as number
      })
      const before = await stored.insert({ name: 'before' })
      expect((await send('POST', '/things', { json: { name: 'a' } })).status).toBe(500)
      expect((await send('PATCH', `/things/${before._id}`, { json: { name: 'a' } })).status).toBe(
        500,
      )
      expect(await stored.find()).toEqual([before])
    },
  )
})
