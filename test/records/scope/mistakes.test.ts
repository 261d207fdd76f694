import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, HttpError, type ScopeOption } from '../../../src/index.ts'
import { service } from '../service.ts'

const Note = defineModel('MistakeNote', {
  fields: {
    owner: z.string(),
    title: z.string(),
    at: z.date().optional(),
    done: z.boolean().optional(),
    gone: z.date().nullish(),
    members: z.array(z.string()).optional(),
    place: z.object({ city: z.string() }).optional(),
  },
})

async function notes(scope: unknown) {
  const served = service()
  const stored = served.app.store.collection(Note)
  const note = await stored.insert({ owner: 'bob', title: 'secret' })
  served.app.mount(
    '/notes',
    createRouter({
      model: Note,
      query: ['owner'],
      allowedFields: ['owner', 'title'],
      scope: scope as ScopeOption,
    }),
  )
  return { ...served, stored, note }
}

/** Every route, each of which would touch the note. */
async function everyRoute({ send, note }: Awaited<ReturnType<typeof notes>>) {
  const path = `/notes/${note._id}`
  const json = { title: 'changed' }
  return [
    await send('GET', '/notes'),
    await send('GET', '/notes?page=1'),
    await send('QUERY', '/notes', { json: {} }),
    await send('GET', path),
    await send('PATCH', path, { json }),
    await send('DELETE', path),
    await send('POST', '/notes', { json }),
  ]
}

describe('design, scope: a limit that cannot be applied never turns into no limit', () => {
  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken')
      },
    ],
    ['gives an undefined value', () => ({ owner: undefined })],
    ['gives one undefined value of two', () => ({ owner: 'bob', title: undefined })],
    ['gives no field', () => ({})],
    ['gives no field after a while', async () => ({})],
    ['gives fields that are inherited', () => Object.create({ owner: 'bob' })],
    ['gives a Map', () => new Map([['owner', 'bob']])],
    ['gives an error', () => new Error('broken')],
    ['gives null', () => null],
    ['gives false', () => false],
    ['gives true', () => true],
    ['gives an empty text', () => ''],
    ['gives zero', () => 0],
    ['gives a text', () => 'bob'],
    ['gives an empty list', () => []],
    ['gives a list', () => [{ owner: 'bob' }]],
    ['gives a function', () => () => ({ owner: 'bob' })],
    ['names no field of the model', () => ({ ownr: 'bob' })],
    ['names __proto__', () => JSON.parse('{"__proto__":"bob"}')],
    ['names a dotted field', () => ({ 'place.city': 'Oslo' })],
    ['names an object', () => ({ place: { city: 'Oslo' } })],
    ['gives an operator', () => ({ owner: { ne: 'x' } })],
    ['gives a list of values', () => ({ owner: ['bob', 'ann'] })],
    ['gives NaN', () => ({ owner: Number.NaN })],
    ['gives a function as a value', () => ({ owner: () => 'bob' })],
    ['gives a symbol', () => ({ owner: Symbol('bob') })],
    ['gives an object for a text', () => ({ owner: new String('bob') })],
    ['gives text that is no date', () => ({ at: 'yesterday' })],
    ['gives an invalid date', () => ({ at: new Date(Number.NaN) })],
    ['gives a date for a text', () => ({ owner: new Date() })],
    ['gives text that is no boolean', () => ({ done: 'maybe' })],
    ['gives no alternative', () => ({ or: [] })],
    ['gives an alternative without fields', () => ({ or: [{ owner: 'bob' }, {}] })],
    ['gives an alternative with an undefined value', () => ({ or: [{ owner: undefined }] })],
    ['gives an alternative that is null', () => ({ or: [null, { owner: 'bob' }] })],
    ['gives an alternative that is undefined', () => ({ or: [{ owner: 'bob' }, undefined] })],
    // biome-ignore lint/suspicious/noSparseArray: a slip that must not open anything
    ['gives a hole among the alternatives', () => ({ or: [{ owner: 'bob' }, , { owner: 'x' }] })],
    ['gives alternatives inside alternatives', () => ({ or: [{ or: [{ owner: 'bob' }] }] })],
    [
      'gives an alternative with an unknown field',
      () => ({ or: [{ owner: 'bob' }, { ownr: 'x' }] }),
    ],
    ['gives fields beside the alternatives', () => ({ title: 'secret', or: [{ owner: 'bob' }] })],
    ['gives alternatives that are no list', () => ({ or: { owner: 'bob' } })],
    ['gives alternatives under another name', () => ({ and: [{ owner: 'bob' }] })],
  ])(
    'design, scope: one that %s is a 500 on every route, and nothing is read or written',
    async (_, scope) => {
      const made = await notes(scope)
      for (const answer of await everyRoute(made)) {
        expect(answer.status).toBe(500)
        expect(answer.body).toEqual({
          success: false,
          error: 'Internal Server Error',
          requestId: answer.body.requestId,
        })
      }
      expect(await made.stored.find()).toEqual([made.note])
    },
  )

  test('design, scope: one that names no field is one wherever the router is asked', async () => {
    const { log, send } = await notes(() => ({}))
    await send('GET', '/notes')
    expect(log.text).toContain(
      'scope returned an object without fields; return undefined for no limit',
    )
  })

  test('design, scope: a misspelt field is named in the log, with the one that may be meant', async () => {
    const { log, send } = await notes(() => ({ ownr: 'bob' }))
    await send('GET', '/notes')
    expect(log.text).toContain("scope: MistakeNote has no field 'ownr'. Did you mean 'owner'?")
  })

  test('design, scope: what is no function is a start-up error', async () => {
    for (const scope of [{}, { owner: 'bob' }, null, true]) {
      await expect(notes(scope)).rejects.toThrow(
        "Router '/notes': 'scope' must be a function, or { read, write } with a function each",
      )
    }
  })

  test('design, scope: a cached router answers a 500 as well', async () => {
    const kept = new Map<string, string>()
    const { app, send } = service({
      cache: { get: async (key) => kept.get(key), set: async (key, value) => kept.set(key, value) },
    })
    await app.store.collection(Note).insert({ owner: 'bob', title: 'secret' })
    let limit: object | undefined = { owner: 'bob' }
    const scope = (() => limit) as ScopeOption
    app.mount('/notes', createRouter({ model: Note, allowedFields: [], cache: true, scope }))
    expect((await send('GET', '/notes')).records).toHaveLength(1)
    limit = {}
    for (const path of ['/notes', '/notes?page=1'])
      expect((await send('GET', path)).status).toBe(500)
    limit = undefined
    expect((await send('GET', '/notes')).records).toHaveLength(1)
  })

  test('design, scope: an HttpError that it throws is the answer', async () => {
    const made = await notes(() => {
      throw new HttpError(401, 'Authentication required.')
    })
    for (const answer of await everyRoute(made)) {
      expect(answer).toMatchObject({ status: 401, body: { error: 'Authentication required.' } })
    }
    expect(await made.stored.find()).toEqual([made.note])
  })

  test('design, scope: it runs after the guards, so a guard may set what it reads', async () => {
    const trace: string[] = []
    const { app, send } = service()
    app.mount(
      '/notes',
      createRouter({
        model: Note,
        allowedFields: ['title'],
        middlewares: [() => void trace.push('guard')],
        scope: () => {
          trace.push('scope')
          return { owner: 'ann' }
        },
      }),
    )
    await send('GET', '/notes')
    expect(trace).toEqual(['guard', 'scope'])
  })
})

describe('design, scope: values of every type', () => {
  test.each<[string, unknown, unknown]>([
    ['a date', { at: new Date(5) }, new Date(5)],
    ['a date as text', { at: '1970-01-01T00:00:00.005Z' }, new Date(5)],
    ['a boolean', { done: true }, true],
    ['a boolean as text', { done: 'false' }, false],
    ['null', { gone: null }, null],
    ['an element of a list', { members: 'ann' }, ['ann']],
  ])('design, scope: %s limits reads and is set on create', async (_, scope, value) => {
    const made = await notes(() => scope)
    const [field = ''] = Object.keys(scope as object)
    const created = await made.send('POST', '/notes', { json: { owner: 'x', title: 'in scope' } })
    expect(created.status, created.text).toBe(201)
    expect(await made.stored.findById(String(created.record._id))).toMatchObject({ [field]: value })
    const { records } = await made.send('GET', '/notes')
    // A record without the field is in the scope of null.
    expect(records.map(({ title }) => title)).toEqual(
      value === null ? ['secret', 'in scope'] : ['in scope'],
    )
  })
})
