import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'
import { Note, notes, signedIn } from './notes.ts'

describe('design, scope: one record', () => {
  test('design, scope: a record out of scope is a 404 on every route, exactly like one that does not exist', async () => {
    const { ann, made, stored } = await notes()
    const before = await stored.find()
    const others = `/notes/${made.bob[0]?._id}`
    const absent = `/notes/${'f'.repeat(24)}`
    for (const [method, json] of [
      ['GET', undefined],
      ['HEAD', undefined],
      ['PATCH', { title: 'mine now' }],
      ['PATCH', { title: 'mine now', owner: 'ann' }],
      ['PATCH', { title: 5 }],
      ['PATCH', { owner: 'ann' }],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      const [first, second] = [await ann(method, others, json), await ann(method, absent, json)]
      const { requestId, ...body } = first.body
      expect(body).toEqual({ ...second.body, requestId: undefined })
      expect(first.status).toBe(second.status)
      if (method !== 'PATCH') expect(first.status).toBe(404)
    }
    expect((await ann('PATCH', others, { title: 'mine now' })).body.error).toBe('Entry not found.')
    expect(await stored.find()).toEqual(before)
  })

  test('design, scope: an own record is read, changed and deleted as ever', async () => {
    const { ann, made, stored } = await notes()
    const own = `/notes/${made.ann[0]?._id}`
    expect((await ann('GET', own)).record).toEqual(made.ann[0])
    expect((await ann('PATCH', own, { title: 'new' })).record).toEqual({
      ...made.ann[0],
      title: 'new',
    })
    expect((await ann('DELETE', own)).status).toBe(200)
    expect(await stored.count()).toBe(9)
  })

  test('answers, Scope and guards: the fields that a scope names are dropped from bodies', async () => {
    const { ann, made } = await notes()
    const own = `/notes/${made.ann[0]?._id}`
    expect((await ann('PATCH', own, { owner: 'bob', title: 'new' })).record).toMatchObject({
      owner: 'ann',
      title: 'new',
    })
    for (const json of [{ owner: 'bob' }, { owner: { $ne: 'ann' } }, { owner: null }]) {
      expect((await ann('PATCH', own, json)).body.error).toBe(
        'Request body contains no writable fields.',
      )
      expect((await ann('POST', '/notes', json)).body.error).toBe(
        'Request body contains no writable fields.',
      )
    }
  })

  test("design, scope: a PATCH that races a change of owner never writes to another's record, 100 runs", async () => {
    const { ann, stored } = await notes()
    for (let run = 0; run < 100; run += 1) {
      const { _id } = await stored.insert({ owner: 'ann', title: 'before', size: 0 })
      const [patched] = await Promise.all([
        ann('PATCH', `/notes/${_id}`, { title: 'changed' }),
        stored.update(_id, { owner: 'bob', size: 1 }),
      ])
      const record = await stored.findById(_id)
      expect(record).toMatchObject({ owner: 'bob', size: 1 })
      expect(patched.status).toBe(record?.title === 'changed' ? 200 : 404)
    }
  })
})

describe('answers, Scope and guards: creates', () => {
  test('answers, Scope and guards: the values are set on create, whatever the client sends', async () => {
    const { ann, stored } = await notes()
    for (const owner of [undefined, 'bob', null, { $ne: 1 }, ['ann']]) {
      const { record, status } = await ann('POST', '/notes', { owner, title: 'new', size: 1 })
      expect(status).toBe(201)
      expect(record.owner).toBe('ann')
    }
    expect(await stored.count({ owner: 'bob' })).toBe(5)
  })

  test('answers, Scope and guards: they are set after the validate hook, and before schema validation', async () => {
    const seen: unknown[] = []
    const { ann } = await notes({
      validate(payload) {
        seen.push(payload.owner)
        return { ...payload, owner: 'bob' }
      },
    })
    expect(
      (await ann('POST', '/notes', { owner: 'bob', title: 'new', size: 1 })).record.owner,
    ).toBe('ann')
    expect(seen).toEqual([undefined])
    expect((await ann('POST', '/notes', { title: 'new' })).body.fields).toEqual({
      size: expect.any(String),
    })
  })

  test("7 Errors: a 409 tells that a unique value is taken, also by another's record, and nothing of it", async () => {
    const { ann, stored } = await notes()
    await stored.insert({ owner: 'bob', title: 'his', size: 1, code: 'X' })
    const answer = await ann('POST', '/notes', { title: 'mine', size: 1, code: 'X' })
    expect(answer.body).toMatchObject({
      error: 'Duplicate value for: code.',
      fields: { code: 'Already exists.' },
    })
    expect(answer.text).not.toContain('his')
  })

  test('design, scope: one that names _id gives a create that id, once', async () => {
    const Profile = defineModel('ScopeProfile', { fields: { name: z.string() } })
    const { app, send } = service()
    const id = 'a'.repeat(24)
    app.mount(
      '/me',
      createRouter({ model: Profile, allowedFields: ['name'], scope: () => ({ _id: id }) }),
    )
    const { _id } = await app.store.collection(Profile).insert({ name: 'other' })
    expect((await send('POST', '/me', { json: { name: 'mine' } })).record).toEqual({
      _id: id,
      name: 'mine',
    })
    expect((await send('POST', '/me', { json: { name: 'again' } })).status).toBe(409)
    expect((await send('GET', '/me')).records).toEqual([{ _id: id, name: 'mine' }])
    expect((await send('GET', `/me/${_id}`)).status).toBe(404)
  })
})

describe('design, scope: what it does not limit', () => {
  test('answers, Scope and guards: undefined means no limit, and the function may be async', async () => {
    const { ann, bob } = await notes({
      scope: async ({ auth }) => {
        await new Promise((resolve) => setImmediate(resolve))
        return auth?.userId === 'bob' ? undefined : { owner: auth?.userId }
      },
    })
    expect((await ann('GET', '/notes')).records).toHaveLength(5)
    expect((await bob('GET', '/notes')).records).toHaveLength(10)
    expect(
      (
        await bob('PATCH', `/notes/${(await bob('GET', '/notes')).records[0]?._id}`, {
          owner: 'bob',
        })
      ).status,
    ).toBe(200)
  })

  test('design, scope: it is the limit of its router, not of the model', async () => {
    const { app, ann } = await notes()
    app.mount('/all', createRouter({ model: Note, middlewares: [signedIn], allowedFields: [] }))
    expect((await ann('GET', '/all')).records).toHaveLength(10)
    expect((await ann('GET', '/notes')).records).toHaveLength(5)
  })

  test('design, scope: several equalities must all hold', async () => {
    const { ann } = await notes({ scope: ({ auth }) => ({ owner: auth?.userId, size: 2 }) })
    expect((await ann('GET', '/notes')).records).toMatchObject([{ owner: 'ann', size: 2 }])
    expect((await ann('POST', '/notes', { title: 'new', size: 9 })).record).toMatchObject({
      owner: 'ann',
      size: 2,
    })
  })
})
