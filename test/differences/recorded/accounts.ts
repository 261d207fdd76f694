import { SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { Fields } from '../../../src/index.ts'
import { password, secret } from '../../auth/accounts.ts'
import { startOpenId } from '../../auth/openid.ts'
import { type Service, service } from '../../auth/service.ts'
import { type Cases, status } from './case.ts'

const ann = 'ann@example.com'
const next = 'another good password'

const login = ({ post }: Service, identifier: string, guess = password) =>
  post('/auth/login', { identifier, password: guess })
const forgot = ({ post }: Service, identifier: string, channel = 'email') =>
  post('/auth/password/forgot', { identifier, channel })
const own = ({ post }: Service, profile: object) => post('/auth/social/own', { profile })

/** A service with a provider that believes what the request says. */
const social = (): Promise<Service> =>
  service({
    unique: ['ownId'],
    auth: { social: { own: { verify: (body: Fields) => body.profile } } } as never,
  })

/** The status of a registration with these fields. */
const registered = (values: object) => async () =>
  status((await service()).post('/auth/register', { email: ann, password, ...values }))

/** The status of a change of the own address. */
const changed = (auth: object) => async () => {
  const it = await service({ auth: auth as never })
  const { token, user } = await it.register(ann)
  return status(it.call('PATCH', `/auth/users/${user._id}`, { email: 'bea@example.com' }, token))
}

/** How many users an admin finds, who is the only one; the status if it was refused. */
const users = (query: string) => async () => {
  const it = await service()
  await it.admin()
  const { body } = await login(it, 'admin@example.com')
  const found = await it.call('GET', `/auth/users?${query}`, undefined, body.data.token)
  return found.status === 200 ? found.body.data.length : found.status
}

/** A service where people sign in with genuine ID tokens. */
async function google() {
  const openId = await startOpenId(['web'])
  onTestFinished(() => openId.stop())
  const endpoints = { issuer: openId.issuer, jwks: openId.jwks }
  const it = await service({
    unique: ['googleId'],
    app: { now: () => Date.now() },
    auth: { social: { google: { clientId: 'web', endpoints } } } as never,
  })
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: openId.issuer, aud: 'web', sub: '1', iat: now, exp: now + 60, jti: '1' }
  return {
    token: (more: object = {}) => openId.forge({ ...claims, ...more }),
    signIn: (body: object) => status(it.post('/auth/social/google', body)),
  }
}

/** Accounts. */
export const accounts: Cases = {
  'a sign-up': { asks: registered({}), there: 201 },
  'a sign-up with a short password': { asks: registered({ password: 'short' }), there: 400 },
  'a sign-up with an object as password': {
    asks: registered({ password: { $ne: 1 } }),
    there: 400,
  },
  'a second sign-up': {
    asks: async () => {
      const it = await service()
      await it.register(ann)
      return status(it.post('/auth/register', { email: 'ANN@example.com', password }))
    },
    there: 409,
  },
  'a sign-in': {
    asks: async () => {
      const it = await service()
      await it.register(ann)
      return status(login(it, 'ANN@example.com'))
    },
    there: 200,
  },
  'a wrong password': {
    asks: async () => {
      const it = await service()
      await it.register(ann)
      return status(login(it, ann, 'not the password'))
    },
    there: 401,
  },
  'an account that nobody has': {
    asks: async () => status(login(await service(), ann)),
    there: 401,
  },
  'forgot, for an account that nobody has': {
    asks: async () => status(forgot(await service(), ann)),
    there: 200,
  },
  'a refresh with an unknown token': {
    asks: async () => status((await service()).post('/auth/token/refresh', { refreshToken: 'x' })),
    there: 401,
  },
  '/me without a token': {
    asks: async () => status((await service()).call('GET', '/auth/me')),
    there: 401,
  },
  'the list of users, for a user': {
    asks: async () => {
      const it = await service()
      const { token } = await it.register(ann)
      return status(it.call('GET', '/auth/users', undefined, token))
    },
    there: 403,
  },
  'a provider that is not configured': {
    asks: async () => status((await service()).post('/auth/social/google', { idToken: 'x' })),
    there: 404,
  },

  'a sign-up where no registerFields are named': {
    row: 'a sign-up may set every field unless',
    asks: async () => {
      const it = await service({ auth: { registerFields: undefined } as never })
      const { user } = await it.register(ann, { name: 'Ann' })
      return (await it.stored(user._id)).name
    },
    there: 'Ann',
    here: undefined,
  },
  'an access token after a sign-out': {
    row: 'an access token works until it expires',
    asks: async () => {
      const it = await service()
      const { token, refreshToken } = await it.register(ann)
      await it.post('/auth/logout', { refreshToken })
      return status(it.call('GET', '/auth/me', undefined, token))
    },
    there: 200,
    here: 401,
  },
  'two requests for a code': {
    row: 'every `POST /password/forgot` sends a code',
    asks: async () => {
      const it = await service({ auth: { otp: { resendSeconds: 60 } } })
      await it.register(ann)
      await forgot(it, ann)
      await forgot(it, ann)
      return it.sent.length
    },
    there: 2,
    here: 1,
  },
  'a mailed code, after one went by SMS': {
    row: 'a new code replaces the one before',
    asks: async () => {
      const it = await service()
      await it.register(ann, { phone: '+4930123' })
      await forgot(it, ann)
      const code = it.sent[0]?.code
      await forgot(it, ann, 'sms')
      return status(it.post('/auth/password/reset', { identifier: ann, code, newPassword: next }))
    },
    there: 400,
    here: 200,
  },
  'a new code, after all tries': {
    row: 'a new code brings new tries',
    asks: async () => {
      const it = await service({ auth: { otp: { maxAttempts: 1 } } })
      await it.register(ann)
      const reset = (code: unknown) =>
        status(it.post('/auth/password/reset', { identifier: ann, code, newPassword: next }))
      await forgot(it, ann)
      await reset('no code')
      await forgot(it, ann)
      return reset(it.sent.at(-1)?.code)
    },
    there: 200,
    here: 400,
  },
  'a phone number that was there before the mailbox was proven': {
    row: 'an account keeps every way in that was set up before its owner came',
    asks: async () => {
      const it = await service()
      await it.register(ann, { phone: '+4930666' })
      await forgot(it, ann)
      const code = it.sent[0]?.code
      await it.post('/auth/password/reset', { identifier: ann, code, newPassword: next })
      return status(login(it, '+4930666', next))
    },
    there: 200,
    here: 401,
  },
  "a provider's unverified address": {
    row: "a provider's unverified address becomes the account's",
    asks: async () => (await own(await social(), { id: '1', email: ann })).body.data.user.email,
    there: ann,
    here: undefined,
  },
  'an ID token that is used twice': {
    row: 'an ID token may sign in any number of times',
    asks: async () => {
      const { signIn, token } = await google()
      const idToken = await token()
      return [await signIn({ idToken }), await signIn({ idToken })]
    },
    there: [200, 200],
    here: [200, 401],
  },
  'an ID token with a nonce that the body lacks': {
    row: 'the nonce of an ID token is not looked at',
    asks: async () => {
      const { signIn, token } = await google()
      return signIn({ idToken: await token({ nonce: 'abc' }) })
    },
    there: 200,
    here: 401,
  },
  'a common password': {
    row: 'any password of the right length is taken',
    asks: registered({ password: 'password123' }),
    there: 201,
    here: 400,
  },
  'a password of 300 characters': {
    row: 'a password has at most 256 characters',
    asks: registered({ password: 'quite a long password '.repeat(14) }),
    there: 400,
    here: 201,
  },
  'a new address without the password': {
    row: 'an access token is enough to change an identifier',
    asks: changed({ updateFields: ['email'] }),
    there: 200,
    here: 403,
  },
  'a new address where updateFields does not name it': {
    row: 'identifiers may be changed even if `updateFields` leaves them out',
    asks: changed({ updateFields: ['name'] }),
    there: 200,
    here: 400,
  },
  "a phone number that is another's name": {
    row: "a phone number may be another user's name",
    asks: async () => {
      const it = await service({ auth: { identifiers: ['email', 'phone', 'username'] } as never })
      await it.register(ann, { phone: '+4930123' })
      const values = { email: 'bea@example.com', username: '+4930123', password }
      return status(it.post('/auth/register', values))
    },
    there: 201,
    here: 400,
  },
  'a phone number with dots': {
    row: 'phone numbers keep dots and slashes',
    asks: async () => {
      const it = await service()
      const { user } = await it.register(ann, { phone: '+1.555.010.2031' })
      return (await it.stored(user._id)).phone
    },
    there: '+1.555.010.2031',
    here: '+15550102031',
  },
  'a phone number with a slash': {
    row: 'phone numbers keep dots and slashes',
    asks: registered({ phone: '555/010 2031' }),
    there: 201,
    here: 400,
  },
  'a phone number in a field named mobile': {
    row: 'an identifier named `mobile`',
    asks: async () => {
      const identifiers = ['email', 'mobile']
      const it = await service({ auth: { identifiers, sms: undefined } as never })
      const { user } = await it.register(ann, { mobile: '+49 30 123' })
      return (await it.stored(user._id)).mobile
    },
    there: '+4930123',
    here: '+49 30 123',
  },
  'an address without an @': {
    row: 'an e-mail address is any text',
    asks: registered({ email: 'ann at example.com' }),
    there: 201,
    here: 400,
  },
  'the right password of a locked account': {
    row: 'a locked account is a 429',
    asks: async () => {
      const it = await service({ auth: { lockout: { maxAttempts: 2 } } })
      await it.register(ann)
      for (const guess of ['first guess', 'second guess']) await login(it, ann, guess)
      return status(login(it, ann))
    },
    there: 429,
    here: 401,
  },
  'what a response shows of the user': {
    row: 'the `user` in responses has `id`',
    asks: async () => Object.keys((await (await service()).register(ann)).user).sort(),
    there: ['__v', '_id', 'createdAt', 'email', 'id', 'role', 'updatedAt'],
    here: ['_id', 'createdAt', 'email', 'role', 'updatedAt'],
  },
  'users by an empty address': {
    row: 'an empty filter of `GET /auth/users` is ignored',
    asks: users('email='),
    there: 1,
    here: 0,
  },
  'users in an order': {
    row: '`sort`, `cursor` and objects in the query of `GET /auth/users` are ignored',
    asks: users('sort=email'),
    there: 1,
    here: 400,
  },
  'an access token that 3.3 made': {
    row: 'access and refresh tokens of 3.x',
    asks: async () => {
      const it = await service()
      const { user } = await it.register(ann)
      const token = await new SignJWT({ role: 'user' })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(user._id)
        .setIssuedAt(it.now() / 1000)
        .setExpirationTime(it.now() / 1000 + 900)
        .sign(new TextEncoder().encode(secret))
      return status(it.call('GET', '/auth/me', undefined, token))
    },
    there: 200,
    here: 401,
  },
  'a disabled account': {
    asks: async () => {
      const fields = { disabled: z.boolean().optional() }
      const it = await service({ fields, auth: { fields: { disabled: 'disabled' } } as never })
      const { user } = await it.register(ann)
      await it.users.update(user._id, { disabled: true })
      return status(login(it, ann))
    },
    there: 403,
  },
  'a refresh': {
    asks: async () => {
      const it = await service()
      const { refreshToken } = await it.register(ann)
      const { body } = await it.post('/auth/token/refresh', { refreshToken })
      return Object.keys(body.data).sort()
    },
    there: ['expiresIn', 'refreshExpiresIn', 'refreshToken', 'token', 'user'],
  },
  'a sign-in with a provider': {
    asks: async () => (await own(await social(), { id: '1' })).body.data.provider,
    there: 'own',
  },
  'a code for an unknown channel': {
    asks: async () => status(forgot(await service(), ann, 'fax')),
    there: 400,
  },
  'a change with a wrong password': {
    asks: async () => {
      const it = await service()
      const { token } = await it.register(ann)
      const body = { currentPassword: 'not the password', newPassword: next }
      return status(it.post('/auth/password/change', body, token))
    },
    there: 401,
  },
  'OPTIONS of a route': {
    asks: async () => status((await service()).call('OPTIONS', '/auth/login')),
    there: 200,
  },
  'a sign-out without a token': {
    asks: async () => status((await service()).post('/auth/logout', {})),
    there: 200,
  },
}
