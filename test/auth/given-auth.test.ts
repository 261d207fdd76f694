import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { batch } from '../../src/batch/index.ts'
import {
  type AuthContext,
  createRouter,
  defineModel,
  HttpError,
  type Platform,
} from '../../src/index.ts'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

const Note = defineModel('GivenNote', {
  fields: { text: z.string(), owner: z.string().optional() },
})

/** Sends a request as a server does that mounts the app and knows who makes it. */
async function send(
  { app }: Service,
  path: string,
  auth: Platform['auth'],
  { json, token }: { json?: unknown; token?: string } = {},
) {
  const headers = {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const init = {
    headers,
    ...(json !== undefined && { method: 'POST', body: JSON.stringify(json) }),
  }
  const response = await app.handle(new Request(`http://x${path}`, init), undefined, { auth })
  const body = (await response.json()) as { error?: string; data?: never }
  return { status: response.status, body }
}

/** A service with notes of their owners, and what its guards have seen. */
async function notes() {
  const seen: (AuthContext | undefined)[] = []
  const it = await service({ auth: { emailVerification: { enabled: true } } as never })
  it.app.use((request) => void seen.push(request.auth))
  const { requireAuth, optionalAuth, requireRole } = it.auth
  const options = { model: Note, allowedFields: ['text'] as const }
  const scope = ({ auth }: { auth?: AuthContext }) => ({ owner: auth?.userId })
  it.app.mount('/given', createRouter({ ...options, middlewares: [optionalAuth], scope }))
  it.app.mount('/own', createRouter({ ...options, middlewares: [requireAuth] }))
  it.app.mount('/admins', createRouter({ ...options, middlewares: [requireRole('admin')] }))
  it.app.mount('/batch', batch())
  return { it, seen }
}

describe('who makes a request, as the server around the app says', () => {
  it('is request.auth before the first guard; nobody is nobody', async () => {
    const { it, seen } = await notes()
    const json = { text: 'a' }
    const made = await send(it, '/given', () => ({ userId: 'ann', role: ['a', 'b'] }), { json })
    expect(made).toMatchObject({ status: 201, body: { data: { owner: 'ann' } } })
    for (const nobody of [undefined, null, Promise.resolve(undefined)])
      await send(it, '/given', () => nobody)
    expect(seen).toEqual([{ userId: 'ann', role: ['a', 'b'] }, undefined, undefined, undefined])
    expect((await send(it, '/admins', () => ({ userId: 'ann', role: 'admin' }))).status).toBe(200)
    expect((await send(it, '/admins', () => ({ userId: 'ann', role: 'user' }))).status).toBe(403)
  })

  it('is that of every operation of a batch, which guards of the batch do not change', async () => {
    const { it } = await notes()
    const operations = [{ method: 'POST', path: '/given', body: { text: 'a' } }]
    const auth = () => ({ userId: 'ann' })
    const all = await send(it, '/batch', auth, { json: { operations } })
    expect(all.body.data).toMatchObject([{ body: { data: { owner: 'ann' } } }])
    const refused = await send(it, '/batch', auth, {
      json: { operations: [{ ...operations[0], path: '/own' }] },
    })
    expect(refused.status).toBe(401)
  })

  it('must be an AuthContext: all else is a 500 before the first guard', async () => {
    const { it, seen } = await notes()
    const isText = (value: unknown) => typeof value === 'string'
    const role = fc.oneof(
      fc.constant(undefined),
      fc.string(),
      fc.array(fc.anything()),
      fc.anything(),
    )
    const found = fc.oneof(
      fc.anything().filter(Boolean),
      fc.record({ userId: fc.oneof(fc.string(), fc.anything()), role, claims: fc.anything() }),
    )
    await fc.assert(
      fc.asyncProperty(found, async (value) => {
        seen.length = 0
        const { userId, role, claims } = value as Record<string, unknown>
        const isValid =
          isText(userId) &&
          userId !== '' &&
          (role === undefined || isText(role) || (Array.isArray(role) && role.every(isText))) &&
          (claims === undefined || (typeof claims === 'object' && claims !== null))
        const { status } = await send(it, '/given', () => value as never)
        expect([status, seen.length]).toEqual(isValid ? [200, 1] : [500, 0])
      }),
    )
  })

  it('fails the request if it cannot be found out', async () => {
    const { it, seen } = await notes()
    const failing: readonly (readonly [() => never, number])[] = [
      [
        () => {
          throw new Error('gone')
        },
        500,
      ],
      [
        () => {
          throw new HttpError(403, 'Not from here')
        },
        403,
      ],
    ]
    for (const [auth, status] of failing) {
      expect((await send(it, '/given', auth, { json: { text: 'a' } })).status).toBe(status)
      expect((await send(it, '/given', async () => auth())).status).toBe(status)
    }
    expect(seen).toEqual([])
    expect(await it.app.store.collection(Note).count()).toBe(0)
  })
})

describe('the auth router takes its own tokens alone', () => {
  it('requireAuth wants a token, and its account comes before the one that was given', async () => {
    const { it } = await notes()
    const ann = await it.register('ann@example.com')
    const bea = await it.register('bea@example.com')
    const given = () => ({ userId: ann.user._id, role: 'admin', claims: { sid: 'x', iat: 9e9 } })
    for (const path of ['/own', '/auth/me', '/auth/users', '/auth/sessions'])
      expect([path, (await send(it, path, given)).status]).toEqual([path, 401])
    const me = await send(it, '/auth/me', given, { token: bea.token })
    expect(me.body.data).toMatchObject({ _id: bea.user._id })
    expect((await send(it, '/auth/users', given, { token: bea.token })).status).toBe(403)
    expect((await send(it, '/own', given, { token: 'forged' })).status).toBe(401)
  })

  it('a session of another server is no sign-in where a token is optional', async () => {
    const { it } = await notes()
    const { user, token } = await it.register('ann@example.com')
    const given = () => ({ userId: user._id })
    const unknown = await send(it, '/auth/email/code', given, { json: {} })
    expect(unknown.status).toBe(400)
    await expect.poll(() => it.sent.length).toBe(1)
    const json = { identifier: 'ann@example.com', otp: it.sent[0]?.code }
    expect((await send(it, '/auth/email/verify', given, { json })).status).toBe(200)
    // It was proven from outside of the account, so whoever chose the password may be somebody else.
    const login = await it.post('/auth/login', { email: 'ann@example.com', password })
    expect(login.status).toBe(401)
    expect((await it.call('GET', '/auth/me', undefined, token)).status).toBe(401)
  })
})
