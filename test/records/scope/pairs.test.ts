import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  createRouter,
  defineModel,
  type RouterOptions,
  type ScopeFilter,
  type Values,
} from '../../../src/index.ts'
import { type Answer, service } from '../service.ts'
import { signedIn } from './notes.ts'

const fields = {
  owner: z.string().optional(),
  team: z.string().optional(),
  public: z.boolean().default(false),
  text: z.string(),
}
const Post = defineModel('ScopePairPost', { fields })
type Options = Partial<RouterOptions<Values<typeof fields>>>

/** Posts that all may read if they are public, and that only their owners write. */
const OWN: Options = {
  scope: {
    read: ({ auth }) => ({ or: [{ owner: auth?.userId }, { public: true }] }),
    write: ({ auth }) => ({ owner: auth?.userId }),
  },
}
/** Posts that their owner or the team writes. */
const SHARED: Options = {
  scope: ({ auth }) => ({ or: [{ owner: auth?.userId }, { team: 'red' }] }),
}

async function posts(options: Options) {
  const { app, send } = service()
  app.mount(
    '/posts',
    createRouter({
      model: Post,
      middlewares: [signedIn],
      allowedFields: ['owner', 'team', 'public', 'text'],
      ...options,
    }),
  )
  const stored = app.store.collection(Post)
  const as =
    (user: string) =>
    (method: string, path: string, json?: object, headers: Record<string, string> = {}) =>
      send(method, path, { ...(json && { json }), headers: { 'x-user': user, ...headers } })
  return { stored, ann: as('ann'), bob: as('bob') }
}

describe('next, scope: one for reads and one for writes', () => {
  test('a public record of another is read, and is a 404 to PATCH and DELETE', async () => {
    const { stored, ann, bob } = await posts(OWN)
    const { _id } = await stored.insert({ owner: 'ann', public: true, text: 'a' })
    const path = `/posts/${_id}`
    expect((await bob('GET', path)).record).toMatchObject({ text: 'a' })
    for (const answer of [await bob('PATCH', path, { text: 'b' }), await bob('DELETE', path)]) {
      expect(answer).toMatchObject({ status: 404, body: { error: 'Entry not found.' } })
    }
    expect((await ann('PATCH', path, { text: 'b' })).record).toMatchObject({ text: 'b' })
    expect((await ann('DELETE', path)).status).toBe(200)
  })

  test('a field that only the scope of reads names is written as the allowlist says', async () => {
    const { ann } = await posts(OWN)
    const made = await ann('POST', '/posts', { owner: 'bob', public: true, text: 'a' })
    expect(made.record).toMatchObject({ owner: 'ann', public: true })
    const changed = await ann('PATCH', `/posts/${made.record._id}`, { owner: 'bob', public: false })
    expect(changed.record).toMatchObject({ owner: 'ann', public: false })
  })

  test('a write shows no more than the id of a record that reads exclude', async () => {
    const { stored, ann } = await posts({
      scope: { read: () => ({ public: true }), write: ({ auth }) => ({ owner: auth?.userId }) },
    })
    const made: Answer = await ann('POST', '/posts', { text: 'draft' })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({ success: true, data: { _id: expect.any(String) } })
    const _id = String(made.record._id)
    const path = `/posts/${_id}`
    expect((await ann('PATCH', path, { text: 'b' })).body.data).toEqual({ _id })
    expect((await ann('PATCH', path, { public: true })).record).toMatchObject({ text: 'b' })
    expect((await ann('PATCH', path, { public: false })).body.data).toEqual({ _id })
    expect(await stored.findById(_id)).toMatchObject({ text: 'b', public: false })
  })

  test('If-Match: nobody has a version of a record that reads exclude', async () => {
    const { stored, ann } = await posts({
      scope: { read: () => ({ public: true }), write: ({ auth }) => ({ owner: auth?.userId }) },
    })
    const { _id } = await stored.insert({ owner: 'ann', public: true, text: 'a' })
    const path = `/posts/${_id}`
    const etag = (await ann('GET', path)).headers.get('etag') ?? ''
    await stored.update(_id, { public: false })
    for (const tag of [etag, '"x"']) {
      expect((await ann('PATCH', path, { text: 'b' }, { 'if-match': tag })).status).toBe(412)
      expect((await ann('DELETE', path, undefined, { 'if-match': tag })).status).toBe(412)
    }
    expect((await ann('PATCH', path, { text: 'b' }, { 'if-match': '*' })).status).toBe(200)
  })

  test('a scope of reads that fails does so before anything is written', async () => {
    const { stored, ann } = await posts({
      scope: {
        read: ({ method }) => (method === 'GET' ? undefined : (null as never)),
        write: () => undefined,
      },
    })
    const { _id } = await stored.insert({ owner: 'ann', text: 'a' })
    expect((await ann('POST', '/posts', { text: 'b' })).status).toBe(500)
    expect((await ann('PATCH', `/posts/${_id}`, { text: 'b' })).status).toBe(500)
    expect((await ann('GET', '/posts')).records).toMatchObject([{ _id, text: 'a' }])
  })

  test('no limit for one of them is written down', async () => {
    const { stored, bob } = await posts({
      scope: { read: () => undefined, write: ({ auth }) => ({ owner: auth?.userId }) },
    })
    const { _id } = await stored.insert({ owner: 'ann', text: 'a' })
    expect((await bob('GET', '/posts')).records).toHaveLength(1)
    expect((await bob('PATCH', `/posts/${_id}`, { text: 'b' })).status).toBe(404)
  })

  test.each<[string, unknown]>([
    ['only reads', { read: () => undefined }],
    ['only writes', { write: () => undefined }],
    ['a third', { read: () => undefined, write: () => undefined, list: () => undefined }],
    ['no function', { read: () => undefined, write: { owner: 'ann' } }],
    ['nothing', {}],
    ['a list', [() => undefined]],
  ])('a pair with %s is a start-up error', async (_, scope) => {
    await expect(posts({ scope } as unknown as Options)).rejects.toThrow(
      "Router '/posts': 'scope' must be a function, or { read, write } with a function each",
    )
  })
})

describe('next, scope: or', () => {
  test('its fields are never the client’s, and what all alternatives share is set', async () => {
    const { stored, ann } = await posts({
      scope: ({ auth }) => ({
        or: [
          { team: 'red', owner: auth?.userId },
          { team: 'red', public: true },
        ],
      }),
      validate: { create: (payload, { req }) => ({ ...payload, owner: req.auth?.userId }) },
    })
    const { record } = await ann('POST', '/posts', { text: 'a', team: 'blue', public: true })
    expect(record).toMatchObject({ team: 'red', owner: 'ann', public: false })
    const sent = { text: 'b', team: 'blue', public: true, owner: 'bob' }
    expect((await ann('PATCH', `/posts/${record._id}`, sent)).record).toEqual({
      ...record,
      text: 'b',
    })
    expect(await stored.count()).toBe(1)
  })

  test('a new record that no alternative admits is refused, and nothing is stored', async () => {
    const { stored, ann } = await posts(SHARED)
    const answer = await ann('POST', '/posts', { text: 'a', owner: 'ann', team: 'red' })
    expect(answer).toMatchObject({
      status: 403,
      body: { error: 'The entry would be outside of what you may write.' },
    })
    expect(await stored.count()).toBe(0)
  })

  test('a hook that would move a record out of the scope is refused, with and without If-Match', async () => {
    const { stored, ann } = await posts({
      ...SHARED,
      validate: { update: (payload) => ({ ...payload, owner: 'bob', team: 'blue' }) },
    })
    const { _id } = await stored.insert({ owner: 'ann', team: 'red', text: 'a' })
    const path = `/posts/${_id}`
    const etag = (await ann('GET', path)).headers.get('etag') ?? ''
    for (const headers of [{}, { 'if-match': etag }]) {
      const answer = await ann('PATCH', path, { text: 'b' }, headers)
      expect(answer.status).toBe(403)
      expect(answer.body.error).toBe('The entry would be outside of what you may write.')
    }
    expect((await ann('PATCH', path, { text: 'b' }, { 'if-match': '"x"' })).status).toBe(412)
    expect((await ann('PATCH', `/posts/${'f'.repeat(24)}`, { text: 'b' })).status).toBe(404)
    expect(await stored.findById(_id)).toMatchObject({ owner: 'ann', team: 'red', text: 'a' })
  })

  test('what decides is the record at the moment of the write, not the one that was there before', async () => {
    let meanwhile: () => Promise<unknown> = async () => {}
    const { stored, ann } = await posts({
      ...SHARED,
      validate: {
        update: async (payload) => {
          await meanwhile()
          return { ...payload, team: 'blue' }
        },
      },
    })
    const { _id } = await stored.insert({ owner: 'ann', team: 'red', text: 'a' })
    const path = `/posts/${_id}`
    // Ann's own record may leave the team, but not once it is Bob's.
    meanwhile = () => stored.update(_id, { owner: 'bob' })
    expect((await ann('PATCH', path, { text: 'b' })).status).toBe(403)
    expect(await stored.findById(_id)).toMatchObject({ owner: 'bob', team: 'red', text: 'a' })
    meanwhile = () => stored.update(_id, { owner: 'ann' })
    expect((await ann('PATCH', path, { text: 'b' })).record).toMatchObject({ team: 'blue' })
    meanwhile = () => stored.update(_id, { owner: 'bob' })
    expect((await ann('PATCH', path, { text: 'c' })).status).toBe(404)
    expect(await stored.findById(_id)).toMatchObject({ owner: 'bob', team: 'blue', text: 'b' })
  })

  test('records that are listed, counted and paged by cursor are those of either alternative, once', async () => {
    const { stored, ann } = await posts({ ...SHARED, pagination: 'cursor', defaultPageSize: 1 })
    for (const [owner, team] of [
      ['ann', 'red'],
      ['ann', 'blue'],
      ['bob', 'red'],
      ['bob', 'blue'],
    ] as const) {
      await stored.insert({ owner, team, text: `${owner} ${team}` })
    }
    const walked: unknown[] = []
    let cursor = ''
    do {
      const { records, body } = await ann('GET', `/posts?cursor=${cursor}`)
      walked.push(...records.map(({ text }) => text))
      cursor = (body.pagination as { nextCursor: string | null }).nextCursor ?? ''
    } while (cursor !== '')
    expect(walked).toEqual(['ann red', 'ann blue', 'bob red'])
  })

  test('a field may be named or; a list is what makes alternatives', async () => {
    const Gate = defineModel('ScopeOrGate', { fields: { or: z.string(), x: z.string() } })
    const { app, send } = service()
    let scope: () => unknown = () => ({ or: 'a' })
    const router = createRouter({
      model: Gate,
      allowedFields: ['x'],
      scope: (() => scope()) as unknown as () => ScopeFilter,
    })
    app.mount('/gates', router)
    const stored = app.store.collection(Gate)
    for (const or of ['a', 'b', 'c']) await stored.insert({ or, x: or })
    expect((await send('GET', '/gates')).records).toMatchObject([{ or: 'a' }])
    scope = () => ({ or: [{ or: 'a' }, { or: 'b' }] })
    expect((await send('GET', '/gates')).records).toMatchObject([{ or: 'a' }, { or: 'b' }])
  })
})
