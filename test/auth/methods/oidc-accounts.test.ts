import { Secret, TOTP } from 'otpauth'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import {
  createApp,
  createAuthRouter,
  defineModel,
  HttpError,
  userFields,
} from '../../../src/index.ts'
import { password, secret } from '../accounts.ts'
import { parallel, statuses } from '../service.ts'
import { startIssuer } from './issuer.ts'
import { company, email, vouched } from './oidc-world.ts'

const unproven = [false, undefined, 'true', 'false', 1, 0, null, {}]

it('finds the account by issuer and person, whatever the address is meanwhile', async () => {
  const app = await company()
  const first = (await app.signIn({ ...vouched, name: 'Ann' })).body.data.user
  expect(first).toMatchObject({ email, name: 'Ann' })
  for (const claims of [{}, { email: 'new@example.com' }, { ...vouched, email: 'n@example.com' }]) {
    expect((await app.signIn(claims)).body.data.user).toEqual(first)
  }
  expect(await app.users.count()).toBe(1)
})

it('takes the same person of another issuer for somebody else', async () => {
  const issuer = await startIssuer()
  const options = { name: 'second', issuer: issuer.url, clientId: 'atlas' }
  const app = await company({}, {}, [{ ...options, returnTo: ['https://example.com/in'] }])
  const now = Math.floor(app.now() / 1000)
  const ann = await app.signIn()
  const at = { at: issuer, name: 'second' }
  const other = await app.signIn({ iat: now, exp: now + 60 }, at)
  expect(other.status).toBe(200)
  expect(other.body.data.user._id).not.toBe(ann.body.data.user._id)
})

it('makes no account with an address that the provider does not vouch for', async () => {
  const app = await company()
  for (const [at, email_verified] of unproven.entries()) {
    const { status, body } = await app.signIn({ sub: `person ${at}`, email, email_verified })
    expect([email_verified, status]).toEqual([email_verified, 200])
    expect(body.data.user).not.toHaveProperty('email')
  }
})

it('takes more about the person from where the provider has it', async () => {
  const app = await company()
  app.issuer.say = { userInfo: { ...vouched, name: 'Ann' } }
  expect((await app.signIn()).body.data.user).toMatchObject({ email, name: 'Ann' })
})

it('takes what is signed there only by the key of the provider', async () => {
  const app = await company()
  app.issuer.say = { userInfo: { ...vouched, name: 'Ann' }, userInfoBy: 'its own key' }
  expect((await app.signIn()).body.data.user).toMatchObject({ email, name: 'Ann' })
  app.issuer.say.userInfoBy = 'another key'
  expect(await app.brought()).toBe('error: sign_in_failed')
})

it('waits for the provider no longer because it is asked for more', async () => {
  const app = await company()
  app.issuer.say = { userInfo: vouched }
  const signals = new Map<string, unknown>()
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    signals.set(new URL(url).pathname, init.signal)
    return fetch(url, init)
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  await app.brought()
  expect([...signals.keys()].slice(1)).toEqual(['/token', '/jwks', '/me'])
  expect(signals.get('/token')).toBeInstanceOf(AbortSignal)
  expect(new Set([...signals.values()].slice(1)).size).toBe(1)
})

it('links an address that both sides have proven, and tells the owner', async () => {
  const app = await company()
  await app.register(email)
  await app.post('/auth/login/code', { identifier: email })
  const otp = app.sent.at(-1)?.code
  const own = (await app.post('/auth/login', { identifier: email, otp })).body.data
  app.events.length = 0
  const { status, body } = await app.signIn(vouched)
  expect([status, body.data.user._id]).toEqual([200, own.user._id])
  expect(app.events).toEqual(['provider-linked', 'signed-in'])
  // A notice has no code.
  expect(app.sent.at(-1)).toMatchObject({ to: email, code: '' })
  // Nothing of the owner's ends.
  expect((await app.call('GET', '/auth/me', undefined, own.token)).status).toBe(200)
  app.events.length = 0
  await app.signIn(vouched)
  expect(app.events).toEqual(['signed-in'])
})

it('links no account by an address that the provider does not vouch for', async () => {
  const app = await company()
  const { user } = await app.register(email)
  for (const isProven of [false, true]) {
    await app.users.update(user._id, { provenEmail: isProven ? email : undefined })
    for (const email_verified of unproven) {
      const { status, body } = await app.signIn({ email, email_verified })
      expect([status, body.error]).toEqual([409, 'An account with those details already exists.'])
    }
  }
})

it('ends what others have put into an account with an address of which they had no proof', async () => {
  const app = await company()
  const attacker = await app.register(email)
  const { secret: seed, ticket } = (await app.post('/auth/totp', {}, attacker.token)).body.data
  const code = new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: app.now() })
  await app.post('/auth/totp/confirm', { ticket, code }, attacker.token)
  app.later(1)
  const owner = await app.signIn(vouched)
  expect([owner.status, owner.body.data.user._id]).toEqual([200, attacker.user._id])
  expect((await app.call('GET', '/auth/me', undefined, attacker.token)).status).toBe(401)
  const { refreshToken } = attacker
  expect((await app.post('/auth/token/refresh', { refreshToken })).status).toBe(401)
  expect((await app.post('/auth/login', { identifier: email, password })).status).toBe(401)
  expect((await app.signIn(vouched)).status).toBe(200)
})

it('ends with a first proof of the address by somebody else', async () => {
  const app = await company()
  const attacker = (await app.signIn()).body.data
  await app.users.update(attacker.user._id, { email })
  await app.post('/auth/login/code', { identifier: email })
  const otp = app.sent.at(-1)?.code
  const owner = (await app.post('/auth/login', { identifier: email, otp })).body.data
  expect(owner.user._id).toBe(attacker.user._id)
  const again = (await app.signIn()).body.data
  expect(again.user._id).not.toBe(owner.user._id)
})

it('leaves its place to another person of the provider who proves the address first', async () => {
  const app = await company()
  const eve = (await app.signIn({ sub: 'eve' })).body.data
  await app.users.update(eve.user._id, { email })
  const ann = await app.signIn(vouched)
  expect([ann.status, ann.body.data.user._id]).toEqual([200, eve.user._id])
  expect((await app.signIn()).body.data.user._id).toBe(eve.user._id)
  expect((await app.signIn({ sub: 'eve' })).body.data.user._id).not.toBe(eve.user._id)
})

it('stays when its own address is the first to be proven', async () => {
  const app = await company()
  const { user } = (await app.signIn({ email })).body.data
  await app.users.update(user._id, { email, password: 'of an attacker' })
  const { takeovers } = await app.stored(user._id)
  const proven = await app.signIn(vouched)
  expect(proven.body.data.user._id).toBe(user._id)
  expect(app.events).not.toContain('provider-linked')
  const after = { provenEmail: email, takeovers: Number(takeovers) + 1 }
  expect(await app.stored(user._id)).toMatchObject(after)
  expect(await app.stored(user._id)).not.toHaveProperty('password')
  expect((await app.signIn()).body.data.user._id).toBe(user._id)
})

it('gives an account to no second person of the provider who gets its address', async () => {
  const app = await company()
  const { user } = (await app.signIn(vouched)).body.data
  const { status } = await app.signIn({ ...vouched, sub: 'bob' })
  expect(status).toBe(409)
  expect((await app.signIn()).body.data.user._id).toBe(user._id)
})

it('makes one account of first sign-ins in parallel, and welcomes it once', async () => {
  for (const claims of [{}, vouched]) {
    const welcomed: string[] = []
    const onRegister = ({ _id }: { _id?: unknown }) => void welcomed.push(String(_id))
    const app = await company({ auth: { onRegister } as never })
    const codes: string[] = []
    for (let each = 0; each < 10; each += 1) codes.push(await app.brought(claims))
    const answers = await parallel(10, (at) => app.post('/auth/login/oidc', { code: codes[at] }))
    expect(statuses(answers)).toEqual({ 200: 10 })
    expect(await app.users.count()).toBe(1)
    expect(welcomed).toEqual([answers[0]?.body.data.user._id])
    expect(app.events.filter((type) => type === 'signed-up')).toHaveLength(1)
  }
})

it('links one account once in parallel', async () => {
  const app = await company()
  const { user } = await app.register(email)
  await app.users.update(user._id, { provenEmail: email })
  const codes: string[] = []
  for (let each = 0; each < 10; each += 1) codes.push(await app.brought(vouched))
  const answers = await parallel(10, (at) => app.post('/auth/login/oidc', { code: codes[at] }))
  expect(statuses(answers)).toEqual({ 200: 10 })
  expect(app.events.filter((type) => type === 'provider-linked')).toHaveLength(1)
})

it('links one of two people in parallel who both have the address', async () => {
  const app = await company()
  await app.users.update((await app.register(email)).user._id, { provenEmail: email })
  const people = ['ann', 'bob', 'ann', 'bob']
  const codes: string[] = []
  for (const sub of people) codes.push(await app.brought({ ...vouched, sub }))
  const answers = await parallel(4, (at) => app.post('/auth/login/oidc', { code: codes[at] }))
  expect(statuses(answers)).toEqual({ 200: 2, 409: 2 })
  const linked = new Set(people.filter((_, at) => answers[at]?.status === 200))
  expect(linked.size).toBe(1)
  expect(await app.users.count()).toBe(1)
})

it('never opens an account whose address becomes another one while it is linked', async () => {
  const inner = sqliteStore()
  let meanwhile = async (): Promise<unknown> => undefined
  const collection: typeof inner.collection = (schema) => {
    const own = inner.collection(schema)
    if (!schema.name.includes('oidclink')) return own
    const insert: typeof own.insert = async (...given) => {
      const inserted = await own.insert(...given)
      await meanwhile()
      return inserted
    }
    return { ...own, insert }
  }
  const app = await company({ store: { ...inner, collection } })
  const { user } = await app.register(email)
  await app.users.update(user._id, { provenEmail: email })
  meanwhile = () => {
    meanwhile = async () => undefined
    return app.users.update(user._id, { email: 'new@example.com' })
  }
  for (let each = 0; each < 2; each += 1) {
    const { status, body } = await app.signIn(vouched)
    expect([status, body.data.user.email]).toEqual([200, email])
    expect(body.data.user._id).not.toBe(user._id)
  }
})

it('asks for a second factor', async () => {
  const app = await company()
  const { token } = (await app.signIn(vouched)).body.data
  const { secret: seed, ticket } = (await app.post('/auth/totp', {}, token)).body.data
  const code = () =>
    new TOTP({ secret: Secret.fromBase32(seed) }).generate({ timestamp: app.now() })
  await app.post('/auth/totp/confirm', { ticket, code: code() }, token)
  app.later(30)
  const first = await app.signIn(vouched)
  expect([first.status, first.body.error]).toEqual([401, 'A second step is needed to sign in.'])
  expect(first.body).toMatchObject({ secondStep: ['totp', 'recovery-code'], expiresIn: 300 })
  const answer = await app.post('/auth/login', { ticket: first.body.ticket, totp: code() })
  expect(answer.status).toBe(200)
})

it('refuses disabled and locked accounts', async () => {
  const fields = { banned: z.boolean().optional() }
  const app = await company({ fields, auth: { fields: { disabled: 'banned' } } })
  const { user } = (await app.signIn(vouched)).body.data
  await app.users.update(user._id, { banned: true })
  expect((await app.signIn(vouched)).status).toBe(403)
  // Nor may somebody else at the provider link it, or make another account of its address.
  expect((await app.signIn({ ...vouched, sub: 'bob' })).status).toBe(403)
  await app.users.update(user._id, {
    banned: false,
    failedLoginAttempts: 10,
    lockedUntil: new Date(app.now() + 60_000),
  })
  const locked = await app.signIn(vouched)
  expect([locked.status, locked.body.error]).toEqual([401, 'Invalid credentials.'])
})

it('makes a session recent, of the same account only', async () => {
  const app = await company()
  const { token } = (await app.signIn(vouched)).body.data
  app.later(601)
  const key = { name: 'CI', allow: [{ mount: '*', actions: ['list'] }] }
  expect((await app.post('/auth/keys', key, token)).status).toBe(403)
  const confirm = async (claims: object) =>
    (await app.post('/auth/login/confirm', { oidc: await app.brought({ ...claims }) }, token))
      .status
  expect(await confirm({ sub: 'bob' })).toBe(401)
  expect(await confirm({ sub: 'bob', ...vouched })).toBe(401)
  expect((await app.post('/auth/keys', key, token)).status).toBe(403)
  expect(await confirm({})).toBe(200)
  expect((await app.post('/auth/keys', key, token)).status).toBe(201)
})

it('takes further fields of a new account, but none that names or opens it', async () => {
  const app = await company()
  const code = await app.brought({ sub: 'eve' })
  const more = { name: 'Eve', role: 'admin', email, provenEmail: email, sub: 'ann', _id: 'x' }
  const { body } = await app.post('/auth/login/oidc', { code, ...more })
  expect(body.data.user).toMatchObject({ name: 'Eve', role: 'user' })
  expect(body.data.user).not.toHaveProperty('email')
})

it('removes what is kept of a deleted account', async () => {
  const app = await company({ auth: { routes: { deleteUser: true } } })
  const ann = (await app.signIn()).body.data.user
  const { token } = await app.admin()
  const gone = await app.call('DELETE', `/auth/users/${ann._id}`, undefined, token)
  expect(gone.status).toBe(200)
  expect((await app.signIn()).body.data.user._id).not.toBe(ann._id)
})

it('makes no account for those whom onRegister refuses, until it takes them', async () => {
  let domain = '@corp.example'
  const onRegister = (user: { readonly email?: string }) => {
    if (!user.email?.endsWith(domain)) throw new HttpError(403, 'Not of this company.')
  }
  const app = await company({ auth: { onRegister: onRegister as never } })
  const own = { email: 'bob@corp.example', email_verified: false }
  for (const claims of [vouched, own, vouched]) {
    expect([(await app.signIn(claims)).status, await app.users.count()]).toEqual([403, 0])
  }
  domain = '@example.com'
  expect([(await app.signIn(vouched)).status, await app.users.count()]).toEqual([200, 1])
})

it('makes no account that the model refuses', async () => {
  const app = await company({ fields: { team: z.string() }, auth: { registerFields: ['team'] } })
  const refused = await app.signIn(vouched)
  expect([refused.status, refused.body.fields]).toEqual([400, { team: expect.any(String) }])
  expect(await app.users.count()).toBe(0)
  const code = await app.brought(vouched)
  expect((await app.post('/auth/login/oidc', { code, team: 'one' })).status).toBe(200)
})

it('needs a model that notes proven addresses', async () => {
  const options = {
    name: 'company',
    issuer: 'https://login.example.com',
    clientId: 'atlas',
    returnTo: ['/in'],
  }
  const { provenEmail, ...fields } = userFields() as unknown as Record<string, z.ZodType>
  const User = defineModel('OldUser', { fields, unique: ['email'] as never })
  const auth = createAuthRouter({
    model: User as never,
    token: { secret },
    methods: [oidc(options)],
  })
  const app = createApp({ store: { collection: () => ({}) } as never, env: {} })
  expect(() => app.mount('/auth', auth.router)).toThrow(
    "oidc: the user model needs the field 'provenEmail' of userFields()",
  )
  expect(provenEmail).toBeDefined()
})
