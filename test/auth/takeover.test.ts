import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { Fields } from '../../src/index.ts'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

const next = 'another password'
const victim = 'victim@example.com'
const own = ({ post }: Service, profile: object) => post('/auth/social/own', { profile })
const forgot = ({ post }: Service, identifier: string, channel: string) =>
  post('/auth/password/forgot', { identifier, channel })
const login = async ({ post }: Service, identifier: string, guess = password) =>
  (await post('/auth/login', { identifier, password: guess })).status

/** Resets by the code that the request brings, if it brings one. */
async function reset(app: Service, identifier: string, channel: string): Promise<number> {
  const before = app.sent.length
  await forgot(app, identifier, channel)
  const code = app.sent[before]?.code
  if (code === undefined) return 0
  const body = { identifier, code, newPassword: next }
  return (await app.post('/auth/password/reset', body)).status
}

function app(auth: object = {}, fields: Record<string, z.ZodType> = {}): Promise<Service> {
  const social = { own: { verify: (body: Fields) => body.profile }, ...Object(auth).social }
  const identifiers = ['email', 'phone', 'username']
  return service({
    unique: ['ownId'],
    fields,
    auth: { identifiers, ...auth, social } as never,
  })
}

describe('the first proof takes an account over', () => {
  it('a mailed code ends a planted phone, user name and session', async () => {
    const it = await app()
    const planted = { phone: '+49123666', username: 'mallory' }
    const { user, token, refreshToken } = await it.register(victim, planted)
    expect(await reset(it, victim, 'email')).toBe(200)
    expect(await reset(it, '+49123666', 'sms')).toBe(0)
    expect(await reset(it, victim, 'sms')).toBe(0)
    for (const identifier of Object.values(planted))
      expect(await login(it, identifier, next)).toBe(401)
    expect((await it.call('GET', '/auth/me', undefined, token)).status).toBe(401)
    expect((await it.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
    expect(await login(it, victim, next)).toBe(200)
    const { phone, username, email, provenEmail } = await it.stored(user._id)
    expect([phone, username, email, provenEmail]).toEqual([undefined, undefined, victim, victim])
  })

  it('a mailed code ends a provider that was linked before', async () => {
    const it = await app()
    const { body } = await own(it, { id: 'mallory' })
    await it.users.update(body.data.user._id, { email: victim })
    expect(await reset(it, victim, 'email')).toBe(200)
    const again = await own(it, { id: 'mallory' })
    expect(again.body.data.user._id).not.toBe(body.data.user._id)
    expect((await it.call('GET', '/auth/me', undefined, body.data.token)).status).toBe(401)
  })

  it('a mailed code ends a provider that is switched off, which may be switched on again', async () => {
    const store = sqliteStore()
    const close = store.close.bind(store)
    store.close = async () => {}
    const at = (enabled: boolean) => {
      const social = { own: { verify: () => ({ id: 'planted' }), enabled } }
      return service({ store, unique: ['ownId'], auth: { updateFields: ['email'], social } })
    }
    const before = await at(true)
    const { token, user } = (await before.post('/auth/social/own')).body.data
    const email = { email: victim }
    expect((await before.call('PATCH', `/auth/users/${user._id}`, email, token)).status).toBe(200)
    expect(await reset(await at(false), victim, 'email')).toBe(200)
    const { data } = (await (await at(true)).post('/auth/social/own')).body
    expect(data.user._id).not.toBe(user._id)
    await close()
  })

  it('a texted code ends a planted mailbox: the mirror image', async () => {
    const it = await app()
    await it.register('mallory@example.com', { phone: '+49123' })
    expect(await reset(it, '+49123', 'sms')).toBe(200)
    expect(await reset(it, 'mallory@example.com', 'email')).toBe(0)
    expect(await reset(it, '+49123', 'email')).toBe(0)
    expect(await login(it, 'mallory@example.com', next)).toBe(401)
    expect(await login(it, '+49123', next)).toBe(200)
    const mallory = await own(it, { id: 'm', email: 'mallory@example.com', emailVerified: true })
    expect(mallory.body.data.user).not.toHaveProperty('phone')
  })

  it('a provider ends its own earlier link to somebody else', async () => {
    const it = await app()
    const { body } = await own(it, { id: 'mallory' })
    await it.users.update(body.data.user._id, { email: victim })
    const owner = await own(it, { id: 'v', email: victim, emailVerified: true })
    expect(owner.body.data.user).toMatchObject({ _id: body.data.user._id, ownId: 'v' })
    expect((await own(it, { id: 'mallory' })).body.data.user._id).not.toBe(body.data.user._id)
  })

  it('a recovery address ends with it, and proves nothing itself', async () => {
    const mail = { sender: ({ to, code }: { to: string; code: string }) => sent.push([to, code]) }
    const sent: [string, string][] = []
    const options = {
      mail: { ...mail, toField: 'recovery' },
      registerFields: ['recovery'],
    }
    const it = await app(options, { recovery: z.string().optional() })
    const { user } = await it.register(victim, { recovery: 'r@example.com', username: 'ann' })
    await forgot(it, victim, 'email')
    const body = { identifier: victim, code: sent[0]?.[1], newPassword: next }
    expect((await it.post('/auth/password/reset', body)).status).toBe(200)
    expect(await it.stored(user._id)).toMatchObject({ recovery: 'r@example.com', username: 'ann' })
    await own(it, { id: 'v', email: victim, emailVerified: true })
    expect(await it.stored(user._id)).not.toHaveProperty('recovery')
  })
})

describe('an account with a proven identifier', () => {
  /** Mallory's account: the mailbox is proven, a phone or address of the victim's is claimed. */
  async function claimed(claim: Fields) {
    const it = await app({ updateFields: ['phone'] })
    const { user } = await it.register('mallory@example.com', {})
    expect(await reset(it, 'mallory@example.com', 'email')).toBe(200)
    await it.users.update(user._id, claim)
    return { it, id: user._id }
  }

  it('has no way in by an identifier that is only claimed', async () => {
    const { it } = await claimed({ phone: '+49123' })
    expect(await login(it, '+49123', next)).toBe(401)
    expect(await reset(it, '+49123', 'sms')).toBe(0)
    expect(await reset(it, 'mallory@example.com', 'sms')).toBe(0)
    expect(await login(it, 'mallory@example.com', next)).toBe(200)
  })

  it('reserves nothing that is only claimed: a sign-up gets it', async () => {
    const { it, id } = await claimed({ phone: '+49123' })
    const answer = await it.post('/auth/register', { phone: '+49123', password })
    expect(answer.status).toBe(201)
    expect(await it.stored(id)).not.toHaveProperty('phone')
    expect((await it.post('/auth/register', { phone: '+49123', password })).status).toBe(409)
    expect(await reset(it, '+49123', 'sms')).toBe(200)
  })

  it('reserves nothing that is only claimed: an account that asks for it gets it', async () => {
    const { it, id } = await claimed({ phone: '+49123' })
    const { user, token } = await it.register('owner@example.com')
    const change = { phone: '+49123', currentPassword: password }
    const { status } = await it.call('PATCH', `/auth/users/${user._id}`, change, token)
    expect([status, (await it.stored(user._id)).phone]).toEqual([200, '+49123'])
    expect(await it.stored(id)).not.toHaveProperty('phone')
  })

  it('reserves nothing that is only claimed: a provider that verifies it makes an account', async () => {
    const it = await app()
    const { body } = await it.post('/auth/register', { phone: '+49666', password })
    expect(await reset(it, '+49666', 'sms')).toBe(200)
    await it.users.update(body.data.user._id, { email: victim })
    const owner = await own(it, { id: 'v', email: victim, emailVerified: true })
    expect(owner.status).toBe(200)
    expect(owner.body.data.user._id).not.toBe(body.data.user._id)
    expect(await it.stored(body.data.user._id)).not.toHaveProperty('email')
  })

  it('keeps what its owner has added, when the password is reset again', async () => {
    const it = await app()
    const { user } = await it.register(victim)
    expect(await reset(it, victim, 'email')).toBe(200)
    await own(it, { id: 'v', email: victim, emailVerified: true })
    await it.users.update(user._id, { username: 'vic' })
    expect(await reset(it, victim, 'email')).toBe(200)
    expect(await it.stored(user._id)).toMatchObject({ ownId: 'v', username: 'vic' })
    expect((await own(it, { id: 'v' })).body.data.user._id).toBe(user._id)
    expect(await login(it, 'vic', next)).toBe(200)
  })
})

describe('what is not proven', () => {
  it("a provider's unverified address is not stored", async () => {
    const it = await app()
    const { body } = await own(it, { id: 'm', email: victim })
    expect(body.data.user).not.toHaveProperty('email')
    expect((await it.post('/auth/register', { email: victim, password })).status).toBe(201)
  })

  it('an account from before the proofs were noted stays usable by password and mail', async () => {
    const it = await app()
    const { user } = await it.register(victim)
    expect(await login(it, victim)).toBe(200)
    expect(await it.stored(user._id)).not.toHaveProperty('provenEmail')
    expect(await reset(it, victim, 'email')).toBe(200)
    expect(await login(it, victim, next)).toBe(200)
  })

  it('a phone that no code can reach opens as a user name does', async () => {
    const it = await app({ sms: undefined })
    const { user } = await it.register(victim)
    expect(await reset(it, victim, 'email')).toBe(200)
    await it.users.update(user._id, { phone: '+49123' })
    expect(await login(it, '+49123', next)).toBe(200)
  })
})
