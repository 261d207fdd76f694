/**
 * What the hooks around PATCH and DELETE see, and what happens with what they return and throw.
 */

import { expect, test } from 'vitest'
import * as z from 'zod'
import { memoryCache } from '../../../adapters/caches/memory.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  type AfterUpdate,
  type BeforeRemove,
  type BeforeUpdate,
  createRouter,
  defineModel,
  type Fields,
  HttpError,
  type RouterOptions,
  ValidationError,
  type Values,
} from '../../../src/index.ts'
import { service } from '../service.ts'
import { watched } from '../watched.ts'

const fields = {
  title: z.string().max(20),
  size: z.number().min(0).optional(),
  dueAt: z.date().optional(),
  secret: z.string().optional(),
  reviewedBy: z.string().optional(),
  level: z.int().default(1),
  /** Sent as a string, stored as its length. */
  length: z
    .string()
    .transform((text) => text.length)
    .optional(),
  place: z.object({ city: z.string(), code: z.string().optional() }).optional(),
}
const Task = defineModel('HookTask', { fields, timestamps: true, hidden: ['secret', 'place.code'] })
type TaskOptions = Partial<RouterOptions<Values<typeof fields>>>
type Task = Values<typeof fields>

const FREE = ['title', 'size', 'dueAt', 'length', 'place'] as const

function tasks(options: TaskOptions = {}) {
  const store = watched(sqliteStore())
  const served = service({ store, cache: memoryCache() })
  served.app.mount(
    '/tasks',
    createRouter({ model: Task, middlewares: [], allowedFields: FREE, ...options }),
  )
  return { ...served, store, stored: served.app.store.collection(Task) }
}

/** A hook as a JavaScript user may write it. */
const loose = (hook: (update: { changes: Fields; record: Fields }) => unknown) =>
  hook as unknown as BeforeUpdate<Task>

test('beforeUpdate sees the whole record and cast changes, after validate and the schema', async () => {
  const calls: unknown[] = []
  const { send, stored } = tasks({
    validate: (payload) => void calls.push(['validate', { ...payload }]),
    beforeUpdate: ({ record, changes, request }) =>
      void calls.push(['beforeUpdate', record, changes, request.params.id]),
    afterUpdate: ({ before, record, request }) =>
      void calls.push(['afterUpdate', before, record, request.params.id]),
    onGet: () => void calls.push(['onGet']),
  })
  const before = await stored.insert({ title: 'a', secret: 's', place: { city: 'Ur', code: 'x' } })
  const dueAt = new Date('2026-05-01T00:00:00.000Z')
  const json = { size: '5', dueAt: dueAt.toISOString(), secret: 'mine', level: 3 }
  const { record } = await send('PATCH', `/tasks/${before._id}`, { json })
  const after = await stored.findById(before._id)
  expect(calls).toEqual([
    ['validate', { size: '5', dueAt: dueAt.toISOString() }],
    ['beforeUpdate', before, { size: 5, dueAt }, before._id],
    ['afterUpdate', before, after, before._id],
    ['onGet'],
  ])
  expect(after).toMatchObject({ size: 5, dueAt, secret: 's', level: 1 })
  expect(record).toMatchObject({ size: 5, place: { city: 'Ur' } })
})

test('hooks see the record in the shape of the present model', async () => {
  const collection = 'hook_posts'
  const Before = defineModel('HookPostBefore', {
    collection,
    fields: { name: z.string(), count: z.string(), gone: z.string() },
  })
  const Post = defineModel('HookPost', {
    collection,
    fields: { title: z.string(), count: z.number(), kind: z.string().default('plain') },
    renamed: { name: 'title' },
    convert: { count: (stored) => (typeof stored === 'string' ? Number(stored) : stored) },
  })
  const store = sqliteStore()
  const earlier = service({ store }).app.store.collection(Before)
  const old = await earlier.insert({ name: 'a', count: '3', gone: 'x' })
  const { app, send } = service({ store })
  const seen: unknown[] = []
  const note = ({ record }: { readonly record: unknown }) => void seen.push(record)
  app.mount(
    '/posts',
    createRouter({
      model: Post,
      middlewares: [],
      allowedFields: ['title'],
      ...{ beforeUpdate: note, beforeRemove: note, afterRemove: note },
    }),
  )
  const first = await send('PATCH', `/posts/${old._id}`, { json: { title: 'b' } })
  expect(first.status).toBe(200)
  expect((await send('DELETE', `/posts/${old._id}`)).status).toBe(200)
  const shown = { _id: old._id, count: 3, kind: 'plain' }
  expect(seen).toEqual([
    { ...shown, title: 'a' },
    { ...shown, title: 'b' },
    { ...shown, title: 'b' },
  ])
})

test.each<[string, BeforeUpdate<Task>, Fields]>([
  ['nothing', () => {}, { size: 2 }],
  ['null', () => null, { size: 2 }],
  [
    'nothing, after a change of `changes`',
    ({ changes }) => {
      changes.reviewedBy = 'ann'
    },
    { size: 2, reviewedBy: 'ann' },
  ],
  ['other changes', () => ({ level: 7, secret: 'new' }), { size: 1, level: 7, secret: 'new' }],
  ['undefined for an optional field', () => ({ size: undefined }), { size: undefined }],
  ['no field at all', () => ({}), { size: 1 }],
  [
    'keys that belong to the server',
    loose(({ changes }) => ({ ...changes, _id: 'x', createdAt: 0, $set: 1, 'a.b': 2 })),
    { size: 2 },
  ],
  ['text for a number', loose(() => ({ size: '8' })), { size: 8 }],
])('beforeUpdate may return %s', async (_, beforeUpdate, written) => {
  const { send, stored } = tasks({ beforeUpdate })
  const { _id, createdAt } = await stored.insert({ title: 'a', size: 1 })
  expect((await send('PATCH', `/tasks/${_id}`, { json: { size: 2 } })).status).toBe(200)
  const { updatedAt, ...after } = (await stored.findById(_id)) ?? {}
  const { size, ...others } = { size: 1, ...written }
  expect(after).toEqual({
    ...{ _id, createdAt, title: 'a', level: 1 },
    ...(size !== undefined && { size }),
    ...others,
  })
})

test.each<[string, BeforeUpdate<Task>, number, string, Fields | undefined]>([
  ['an HttpError', () => fail(new HttpError(403, 'No.')), 403, 'No.', undefined],
  [
    'a ValidationError',
    () => fail(new ValidationError('Check.', { size: 'Too small.' })),
    400,
    'Check.',
    { size: 'Too small.' },
  ],
  ['another error', () => fail(new Error('broken')), 500, 'Internal Server Error', undefined],
  [
    'a value that the schema refuses',
    () => ({ size: -1 }),
    400,
    'Check the submitted values.',
    { size: 'Too small: expected number to be >=0' },
  ],
  [
    'undefined for a required field',
    loose(() => ({ title: undefined })),
    400,
    'Check the submitted values.',
    { title: 'Invalid input: expected string, received null' },
  ],
  ['a list', loose(() => []), 500, 'Internal Server Error', undefined],
  ['a field that is none', loose(() => ({ sizes: 1 })), 500, 'Internal Server Error', undefined],
])('beforeUpdate with %s refuses the update', async (_, beforeUpdate, status, error, refused) => {
  const { send, stored } = tasks({ beforeUpdate })
  const before = await stored.insert({ title: 'a', size: 1 })
  const answer = await send('PATCH', `/tasks/${before._id}`, { json: { size: 2 } })
  expect(answer.body).toMatchObject({ success: false, error })
  expect([answer.status, answer.body.fields]).toEqual([status, refused])
  expect(await stored.findById(before._id)).toEqual(before)
})

test('a 500 of beforeUpdate names the field that the model does not have', async () => {
  const { send, stored, log } = tasks({ beforeUpdate: loose(() => ({ sizes: 1 })) })
  const { _id } = await stored.insert({ title: 'a' })
  await send('PATCH', `/tasks/${_id}`, { json: { size: 2 } })
  expect(log.text).toContain(
    "'beforeUpdate' lists 'sizes', but HookTask has no such field. Did you mean 'size'?",
  )
})

test('values that a transform has made are written as they are, if beforeUpdate leaves them', async () => {
  const { send, stored } = tasks({
    beforeUpdate({ changes }) {
      expect(changes.length).toBe(4)
      changes.reviewedBy = 'ann'
    },
  })
  const { _id } = await stored.insert({ title: 'a' })
  expect((await send('PATCH', `/tasks/${_id}`, { json: { length: 'four' } })).status).toBe(200)
  expect(await stored.findById(_id)).toMatchObject({ length: 4, reviewedBy: 'ann' })
})

test('hidden parts of an object stay when beforeUpdate replaces it', async () => {
  const { send, stored } = tasks({ beforeUpdate: () => ({ place: { city: 'Uruk' } }) })
  const { _id } = await stored.insert({ title: 'a', place: { city: 'Ur', code: 'x' } })
  expect((await send('PATCH', `/tasks/${_id}`, { json: { size: 2 } })).status).toBe(200)
  expect(await stored.findById(_id)).toMatchObject({ place: { city: 'Uruk', code: 'x' } })
})

test('what a hook does to the record that it sees changes nothing', async () => {
  const spoil = (record: Task) => {
    record.title = 'spoilt'
    Object.assign(record.place ?? {}, { city: 'spoilt' })
  }
  const { send, stored } = tasks({
    beforeUpdate: ({ record }) => spoil(record),
    afterUpdate({ before, record }) {
      spoil(before)
      spoil(record)
    },
    beforeRemove: ({ record }) => spoil(record),
  })
  const { _id } = await stored.insert({ title: 'a', place: { city: 'Ur' } })
  const { record } = await send('PATCH', `/tasks/${_id}`, { json: { size: 2 } })
  expect(record).toMatchObject({ title: 'a', size: 2, place: { city: 'Ur' } })
  expect((await send('DELETE', `/tasks/${_id}`)).status).toBe(200)
})

test('If-Match: hooks judge the record that the client has read, and another one is a 412', async () => {
  const seen: unknown[] = []
  let disturb = async (_id: string): Promise<unknown> => undefined
  const judge = async ({ record }: { readonly record: Task & { readonly _id: string } }) => {
    seen.push(record.title)
    await disturb(record._id)
  }
  const { send, stored, store } = tasks({ beforeUpdate: judge, beforeRemove: judge })
  const { _id } = await stored.insert({ title: 'a' })
  const path = `/tasks/${_id}`
  const etag = async () => String((await send('GET', path)).headers.get('etag'))
  const stale = await etag()
  await stored.update(_id, { title: 'b' })
  for (const method of ['PATCH', 'DELETE']) {
    const late = await send(method, path, { json: { size: 2 }, headers: { 'if-match': stale } })
    expect(late.status).toBe(412)
  }
  expect(seen).toEqual([])
  const headers = { 'if-match': await etag() }
  store.taken()
  expect((await send('PATCH', path, { json: { size: 2 }, headers })).status).toBe(200)
  expect(store.taken().filter((call) => call === 'hooktasks.update')).toHaveLength(1)
  expect(seen.splice(0)).toEqual(['b'])
  disturb = (id) => stored.update(id, { size: seen.length + 10 })
  for (const method of ['PATCH', 'DELETE']) {
    const message = { json: { title: 'c' }, headers: { 'if-match': await etag() } }
    const changed = await send(method, path, message)
    expect([changed.status, changed.body.error]).toEqual([
      412,
      'The record has changed since it was read.',
    ])
  }
  expect(seen).toEqual(['b', 'b'])
})

test('a record out of scope, or one that is gone, is a 404 that no hook sees', async () => {
  const seen: unknown[] = []
  const note = (one: unknown) => void seen.push(one)
  const { send, stored } = tasks({
    scope: () => ({ reviewedBy: 'ann' }),
    ...{ beforeUpdate: note, afterUpdate: note, beforeRemove: note, afterRemove: note },
  })
  const { _id } = await stored.insert({ title: 'a', reviewedBy: 'bob' })
  for (const id of [_id, 'f'.repeat(24)]) {
    expect((await send('PATCH', `/tasks/${id}`, { json: { size: 2 } })).status).toBe(404)
    expect((await send('DELETE', `/tasks/${id}`)).status).toBe(404)
  }
  expect(seen).toEqual([])
})

test('a record that goes while a hook judges it is a 404', async () => {
  const { send, stored } = tasks({
    beforeUpdate: async ({ record }) => void (await stored.delete(record._id)),
    beforeRemove: async ({ record }) => void (await stored.delete(record._id)),
  })
  for (const method of ['PATCH', 'DELETE']) {
    const { _id } = await stored.insert({ title: 'a' })
    expect((await send(method, `/tasks/${_id}`, { json: { size: 2 } })).status).toBe(404)
  }
})

test('a failing hook after a write is logged, and the response is the same', async () => {
  const broken = () => fail(new Error('no mail today'))
  const { send, stored, log } = tasks({ afterUpdate: broken, afterRemove: broken })
  const { _id } = await stored.insert({ title: 'a' })
  const update = await send('PATCH', `/tasks/${_id}`, { json: { size: 2 } })
  expect([update.status, update.record.size]).toEqual([200, 2])
  const removal = await send('DELETE', `/tasks/${_id}`)
  expect([removal.status, removal.body.message]).toEqual([200, 'Item successfully deleted.'])
  for (const [name, { headers }] of [
    ['afterUpdate', update],
    ['afterRemove', removal],
  ] as const) {
    const line = log.lines.find(({ message }) => message === `Router '/tasks': ${name} failed`)
    expect(line?.details).toMatchObject({ requestId: headers.get('x-request-id') })
    expect(line?.details.error).toContain('no mail today')
  }
})

test.each<[string, BeforeRemove<Task>, number, string]>([
  ['an HttpError', () => fail(new HttpError(423, 'Locked.')), 423, 'Locked.'],
  ['another error', () => fail(new Error('broken')), 500, 'Internal Server Error'],
  [
    'false, which is no way to refuse',
    (() => false) as unknown as BeforeRemove<Task>,
    500,
    'Internal Server Error',
  ],
])('beforeRemove with %s keeps the record', async (_, beforeRemove, status, error) => {
  const { send, stored } = tasks({ beforeRemove })
  const before = await stored.insert({ title: 'a' })
  const answer = await send('DELETE', `/tasks/${before._id}`)
  expect([answer.status, answer.body.error]).toEqual([status, error])
  expect(await stored.findById(before._id)).toEqual(before)
})

test('hooks belong to their router: app.store and other routers run none', async () => {
  const refuse = () => fail(new HttpError(403, 'No.'))
  const { app, send, stored } = tasks({ beforeUpdate: refuse, beforeRemove: refuse })
  app.mount('/free', createRouter({ model: Task, middlewares: [], allowedFields: FREE }))
  const { _id } = await stored.insert({ title: 'a' })
  expect((await send('PATCH', `/free/${_id}`, { json: { size: 2 } })).status).toBe(200)
  expect((await stored.update(_id, { size: 3 }))?.size).toBe(3)
  expect((await send('DELETE', `/free/${_id}`)).status).toBe(200)
})

test('without hooks, a write is one call of the store', async () => {
  const { send, stored, store } = tasks()
  const { _id } = await stored.insert({ title: 'a' })
  store.taken()
  await send('PATCH', `/tasks/${_id}`, { json: { size: 2 } })
  await send('DELETE', `/tasks/${_id}`)
  expect(store.taken()).toEqual(['hooktasks.update', 'hooktasks.delete'])
})

test('a hook after a write finds the cache cleared', async () => {
  const seen: unknown[] = []
  let read = async (): Promise<unknown> => undefined
  const afterUpdate: AfterUpdate<Task> = async () => void seen.push(await read())
  const { send, stored } = tasks({ afterUpdate, cache: true })
  const { _id } = await stored.insert({ title: 'a' })
  read = async () => {
    const { record, headers } = await send('GET', `/tasks/${_id}`)
    return [record.title, headers.get('x-cache')]
  }
  await read()
  expect(await read()).toEqual(['a', 'HIT'])
  await send('PATCH', `/tasks/${_id}`, { json: { title: 'b' } })
  expect(seen).toEqual([['b', 'MISS']])
})

function fail(error: Error): never {
  throw error
}
