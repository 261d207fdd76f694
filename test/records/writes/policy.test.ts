import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type RouterOptions } from '../../../src/index.ts'
import { service } from '../service.ts'

const Thing = defineModel('PolicyThing', {
  fields: {
    name: z.string().optional(),
    role: z.string().optional(),
    kind: z.string().optional(),
    extra: z.any().optional(),
    map: z.record(z.string(), z.any()).optional(),
    address: z.object({ city: z.string().optional() }).optional(),
  },
  timestamps: true,
})
type ThingOptions = Partial<
  RouterOptions<{
    name?: string
    role?: string
    kind?: string
    extra?: unknown
    map?: Record<string, unknown>
    address?: object
  }>
>

function things(options: ThingOptions = { allowedFields: ['name', 'extra', 'map', 'address'] }) {
  const served = service()
  served.app.mount('/things', createRouter({ model: Thing, ...(options as object) }))
  return { ...served, stored: served.app.store.collection(Thing) }
}

const NOTHING = 'Request body contains no writable fields.'
const json = { 'content-type': 'application/json' }

/** Posts `body` as raw JSON and gives the stored record without what the server keeps. */
async function storedFrom(body: string, options?: ThingOptions) {
  const { send, stored } = things(options)
  const answer = await send('POST', '/things', { body, headers: json })
  expect(answer.status, answer.text).toBe(201)
  const [record] = await stored.find()
  const { _id, createdAt, updatedAt, ...rest } = record ?? { _id: '' }
  return { answer, rest, _id, createdAt, updatedAt }
}

describe('4.1 Write rules, 1: the body is reduced to what may be written', () => {
  test('4.1 Write rules, 1: what is not in allowedFields is dropped in silence', async () => {
    const { rest } = await storedFrom('{"name":"a","role":"admin","kind":"x","unknown":1}', {
      allowedFields: ['name'],
    })
    expect(rest).toEqual({ name: 'a' })
  })

  test('2.6 allowedFields: { create, update } are two rules, and the one not given is the default', async () => {
    const { send } = things({ allowedFields: { create: ['name'] } })
    const created = await send('POST', '/things', { json: { name: 'a', role: 'admin' } })
    expect(created.record).not.toHaveProperty('role')
    const path = `/things/${created.record._id}`
    expect((await send('PATCH', path, { json: { role: 'admin' } })).record.role).toBe('admin')

    const reverse = things({ allowedFields: { update: ['name'] } })
    const second = await reverse.send('POST', '/things', { json: { name: 'a', role: 'admin' } })
    expect(second.record.role).toBe('admin')
    const denied = await reverse.send('PATCH', `/things/${second.record._id}`, {
      json: { role: 'x' },
    })
    expect(denied.body.error).toBe(NOTHING)
  })

  test('2.6 blockedFields: it wins over allowedFields, for both operations or for one', async () => {
    const both = things({ allowedFields: ['name', 'role'], blockedFields: ['role'] })
    const created = await both.send('POST', '/things', { json: { name: 'a', role: 'admin' } })
    expect(created.record).not.toHaveProperty('role')
    const path = `/things/${created.record._id}`
    expect((await both.send('PATCH', path, { json: { role: 'admin' } })).body.error).toBe(NOTHING)

    const one = things({ allowedFields: ['name', 'role'], blockedFields: { update: ['role'] } })
    const second = await one.send('POST', '/things', { json: { name: 'a', role: 'admin' } })
    expect(second.record.role).toBe('admin')
    const patched = await one.send('PATCH', `/things/${second.record._id}`, {
      json: { name: 'b', role: 'x' },
    })
    expect(patched.record).toMatchObject({ name: 'b', role: 'admin' })
  })

  test('2.6 allowedFields: without it every field of the model is writable, blockedFields taken off', async () => {
    const { rest } = await storedFrom('{"name":"a","role":"r","kind":"k","other":1}', {
      blockedFields: ['kind'],
    })
    expect(rest).toEqual({ name: 'a', role: 'r' })
  })

  test('2.6 allowedFields: a hidden field may be written, and is not shown', async () => {
    const Hidden = defineModel('PolicyHidden', {
      fields: { name: z.string(), secret: z.string() },
      hidden: ['secret'],
    })
    const { app, send } = service()
    app.mount('/hidden', createRouter({ model: Hidden, allowedFields: ['name', 'secret'] }))
    const { record } = await send('POST', '/hidden', { json: { name: 'a', secret: 's' } })
    expect(record).toEqual({ _id: record._id, name: 'a' })
    expect(await app.store.collection(Hidden).find()).toEqual([
      { _id: record._id, name: 'a', secret: 's' },
    ])
  })

  test.each([
    'Role',
    'ROLE',
    'role ',
    ' role',
    'ｒｏｌｅ',
    'role\u0000',
    'role\u200b',
    'roles',
    'role.0',
    'role[0]',
    'rôle',
    'id',
    '_ID',
  ])(
    'security, other spellings of fields: %o is not the field role or _id, and is dropped',
    async (key) => {
      const { rest, _id } = await storedFrom(JSON.stringify({ name: 'a', [key]: 'f'.repeat(24) }), {
        allowedFields: ['name', 'role'],
      })
      expect(rest).toEqual({ name: 'a' })
      expect(_id).not.toBe('f'.repeat(24))
    },
  )
})

const NEVER = [
  '_id',
  '__v',
  'createdAt',
  'updatedAt',
  '$set',
  '$',
  '$where',
  'a.b',
  '.',
  'name.first',
  '__proto__',
  'constructor',
  'prototype',
]

describe('2.1 never-writable: keys that no client writes, whatever is allowed', () => {
  test.each(NEVER)(
    "2.1 never-writable: '%s' at the top is dropped, and alone it is a 400",
    async (key) => {
      const value = '"2000-01-01T00:00:00.000Z"'
      const { rest, _id, createdAt } = await storedFrom(`{"name":"a","${key}":${value}}`, {})
      expect(rest).toEqual({ name: 'a' })
      expect(_id).toMatch(/^[0-9a-f]{24}$/)
      expect(createdAt).toEqual(new Date(Date.UTC(2024, 2, 1, 12)))
      const { send } = things({})
      for (const body of [`{"${key}":${value}}`, `{"${key}":{"name":"a"}}`]) {
        const alone = await send('POST', '/things', { body, headers: json })
        expect(alone.status).toBe(400)
        expect(alone.body.error).toBe(NOTHING)
      }
    },
  )

  test.each(NEVER)(
    "security, never-writable keys: '%s' is stripped at each of the eight levels, in objects and lists",
    async (key) => {
      const { send, stored } = things()
      const bad = `{"kept":1,"${key}":{"polluted":"yes"}}`
      const levels = Array.from({ length: 8 }, (_, depth) => [
        [`${'{"in":'.repeat(depth)}`, `${'}'.repeat(depth)}`],
        [`${'['.repeat(depth)}`, `${']'.repeat(depth)}`],
      ])
      for (const [open, close] of levels.flat()) {
        const body = `{"extra":${open}${bad}${close}}`
        const { record } = await send('POST', '/things', { body, headers: json })
        const extra = JSON.parse(`${open}{"kept":1}${close}`)
        expect(record.extra, body).toEqual(extra)
        expect(await stored.findById(String(record._id))).toMatchObject({ extra })
      }
      const { record } = await send('POST', '/things', { body: `{"map":${bad}}`, headers: json })
      expect(record.map).toEqual({ kept: 1 })
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    },
  )

  test('security, never-writable keys: PATCH strips as POST does', async () => {
    const { send, stored } = things()
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    const path = `/things/${record._id}`
    const body =
      '{"_id":"x","extra":{"kept":1,"$inc":{"a":1},"__proto__":{"polluted":1},"in":[{"constructor":false,"ok":2}]}}'
    expect((await send('PATCH', path, { body, headers: json })).record.extra).toEqual({
      kept: 1,
      in: [{ ok: 2 }],
    })
    expect(await stored.findById(String(record._id))).toMatchObject({
      extra: { kept: 1, in: [{ ok: 2 }] },
    })
    expect(
      (await send('PATCH', path, { body: '{"__proto__":{"name":"x"}}', headers: json })).body.error,
    ).toBe(NOTHING)
  })

  test('8 Limits: values of eight containers pass, nine are a 400 that names the field', async () => {
    const { send } = things()
    const lists = (depth: number): unknown => (depth === 0 ? 1 : [lists(depth - 1)])
    const objects = (depth: number): unknown => (depth === 0 ? 1 : { in: objects(depth - 1) })
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    for (const nest of [lists, objects]) {
      for (const [method, path, status] of [
        ['POST', '/things', 201],
        ['PATCH', `/things/${record._id}`, 200],
      ] as const) {
        const right = await send(method, path, { json: { extra: nest(8) } })
        expect(right.status).toBe(status)
        expect(right.record.extra).toEqual(nest(8))
        const deep = await send(method, path, { json: { name: 'b', extra: nest(9) } })
        expect(deep.status).toBe(400)
        expect(deep.body.error).toBe("Field 'extra' is nested too deeply.")
      }
    }
    expect((await send('GET', `/things/${record._id}`)).record.name).toBe('a')
  })

  test('security, update operators: update operators and driver objects are values like others, stripped or stored as they are', async () => {
    const { send } = things()
    const nothing = [
      '[{"$set":{"name":"x"}}]',
      '{"$set":{"name":"x"}}',
      '{"$unset":{"name":""},"$rename":{"a":"b"}}',
    ]
    for (const body of nothing)
      expect((await send('POST', '/things', { body, headers: json })).body.error).toBe(NOTHING)
    expect(
      (await send('POST', '/things', { json: { name: { $inc: 1 } } })).body.fields,
    ).toHaveProperty('name')
    const { record } = await send('POST', '/things', {
      json: { extra: { $oid: 'x', $date: 1, kept: true } },
    })
    expect(record.extra).toEqual({ kept: true })
  })

  test.each([
    'Code',
    'ObjectId',
    'Binary',
    'Double',
    'Long',
    'DBRef',
    'Timestamp',
    'nothing',
    5,
    null,
  ])(
    'security, update operators: an object with the _bsontype %o is an object like others',
    async (_bsontype) => {
      const { send, stored } = things()
      const extra = {
        _bsontype,
        code: 'return 1',
        value: 5,
        sub_type: 0,
        oid: 'x',
        in: [{ _bsontype, id: 'y' }],
      }
      const { record } = await send('POST', '/things', { json: { extra } })
      expect(record.extra).toEqual(extra)
      const path = `/things/${record._id}`
      expect((await send('PATCH', path, { json: { extra: [extra] } })).record.extra).toEqual([
        extra,
      ])
      expect((await stored.find())[0]?.extra).toEqual([extra])
    },
  )
})

describe('4.1 Write rules, 2: nothing left is a 400', () => {
  test.each([
    '{}',
    '{"role":"admin"}',
    '{"unknown":1}',
    '{"$set":{"name":"x"}}',
    '{"_id":"x","createdAt":"y"}',
  ])('4.1 Write rules, 2: %s', async (body) => {
    const { send } = things({ allowedFields: ['name'] })
    const { record } = await send('POST', '/things', { json: { name: 'a' } })
    for (const [method, path] of [
      ['POST', '/things'],
      ['PATCH', `/things/${record._id}`],
    ] as const) {
      const answer = await send(method, path, { body, headers: json })
      expect(answer.status).toBe(400)
      expect(answer.body).toEqual({
        success: false,
        error: NOTHING,
        requestId: answer.body.requestId,
      })
    }
  })
})
