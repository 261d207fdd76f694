/**
 * Accounts with other options: hooks, user names, addresses that must be proven, roles that need a second factor, the tokens
 * of another service.
 *
 * @module
 */

import { HttpError } from '../../../src/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { password } from '../../auth/accounts.ts'
import { ANN, accountsWith, BOB, type People, scenario, wrong } from './people.ts'
import type { Scenario } from './run.ts'

const plain = accountsWith(
  {
    identifiers: ['email', 'phone', 'username'],
    registerFields: ['name'],
    updateFields: ['email', 'username'],
    emailVerification: { enabled: false },
  },
  (tell) => ({
    onRegister({ email }: { email?: string }) {
      if (email === 'bad@example.com') throw new HttpError(403, 'Not you.')
      tell('onRegister')
    },
    onLogin: () => tell('onLogin'),
    onDelete: () => tell('onDelete'),
  }),
)
const strict = accountsWith({
  emailVerification: { enabled: true, required: true },
  methods: [totp({ issuer: 'Atlas' })],
  secondFactor: { requiredFor: ['admin'] },
})
const lastSessions = accountsWith({ refresh: { enabled: true, maxSessions: 1, rotate: false } })
const stateless = accountsWith({
  refresh: { enabled: false },
  methods: [totp({ issuer: 'Atlas' })],
})

async function proven(p: People, email = ANN): Promise<string> {
  await p.register(email)
  const body = { identifier: email, otp: p.code('emailVerification', email), password }
  const { status, text } = await p.post('/email/verify', body)
  if (status !== 200) throw new Error(text)
  return (await p.post('/login', { identifier: email, password })).body.data.token
}

export const optionScenarios: readonly Scenario[] = [
  scenario(
    'register with a hook',
    async (p) => ({
      send: () => p.post('/register', { email: ANN, password, name: 'Ann' }),
      done: [409],
      check: () => wrong(['the password opens it', p.opens(ANN)]),
    }),
    plain,
  ),
  scenario(
    'register that a hook refuses',
    async (p) => ({
      send: () => p.post('/register', { email: 'bad@example.com', password }),
      lax: true,
      done: [409],
    }),
    plain,
  ),
  scenario(
    'register with a name that is an address',
    async (p) => {
      await p.register(ANN, { username: 'ann' })
      return { send: () => p.post('/register', { email: BOB, username: 'ann', password }) }
    },
    plain,
  ),
  scenario(
    'login with a hook',
    async (p) => {
      await p.register(ANN, { username: 'ann' })
      return { twice: true, send: () => p.post('/login', { identifier: 'ann', password }) }
    },
    plain,
  ),
  scenario(
    'change of the address at once',
    async (p) => {
      const { token, user } = await p.register(ANN, { username: 'ann' })
      const body = { email: 'next@example.com', currentPassword: password }
      return {
        send: () => p.call('PATCH', `/users/${user._id}`, body, token),
        check: () => wrong(['it opens', p.opens('next@example.com')]),
      }
    },
    plain,
  ),
  scenario(
    'change of the address to one that is taken',
    async (p) => {
      await p.register(BOB)
      const { token, user } = await p.register(ANN, { username: 'ann' })
      const body = { email: BOB, currentPassword: password }
      return {
        send: () => p.call('PATCH', `/users/${user._id}`, body, token),
        check: () => wrong(['the old one opens', p.opens(ANN)], ['the other too', p.opens(BOB)]),
      }
    },
    plain,
  ),
  scenario(
    'deletion with a hook',
    async (p) => {
      const { token, user } = await p.register()
      const body = { currentPassword: password }
      return { send: () => p.call('DELETE', `/users/${user._id}`, body, token), done: [401] }
    },
    plain,
  ),
  scenario(
    'register before a proof',
    async (p) => ({
      send: () => p.post('/register', { email: ANN, password }),
      done: [409],
      async check() {
        await p.post('/email/code', { identifier: ANN })
        const otp = p.code('emailVerification')
        const verified = await p.post('/email/verify', { identifier: ANN, otp, password })
        return wrong(
          ['it is proven', verified.status === 200],
          ['the password opens it', p.opens(ANN)],
        )
      },
    }),
    strict,
  ),
  scenario(
    'first proof with the password',
    async (p) => {
      await p.register()
      const body = { identifier: ANN, otp: p.code('emailVerification'), password }
      return {
        send: () => p.post('/email/verify', body),
        done: [400],
        check: () => wrong(['the password opens it', p.opens(ANN)]),
      }
    },
    strict,
  ),
  scenario(
    'first proof without the password',
    async (p) => {
      await p.register()
      const body = { identifier: ANN, otp: p.code('emailVerification') }
      return { send: () => p.post('/email/verify', body), done: [400] }
    },
    strict,
  ),
  scenario(
    'first factor of an admin',
    async (p, place) => {
      const token = await proven(p)
      const { _id } = (await p.call('GET', '/me', undefined, token)).body.data
      await p.makeAdmin(_id)
      const begun = (await p.post('/totp', {}, token)).body.data
      const body = { ticket: begun.ticket, code: await p.totp(begun.secret) }
      return {
        send: () => p.post('/totp/confirm', body, token),
        done: [403, 409],
        async check() {
          place.later(31)
          const answer = { ticket: await p.ticket(), totp: await p.totp(begun.secret) }
          return wrong(['it opens', (await p.post('/login', answer)).status === 200])
        },
      }
    },
    strict,
  ),
  scenario(
    'removal of the last factor of an admin',
    async (p) => {
      const token = await proven(p)
      const { secret } = await p.enrol(token)
      const { _id } = (await p.call('GET', '/me', undefined, token)).body.data
      await p.makeAdmin(_id)
      const strong = await p.strong(secret)
      return {
        send: () => p.call('DELETE', '/totp', undefined, strong),
        async check() {
          const next = await p.strong(secret)
          return wrong(['the factor opens it', typeof next === 'string'])
        },
      }
    },
    strict,
  ),
  scenario(
    'login that ends the last session',
    async (p) => {
      await p.register()
      return { send: () => p.post('/login', { identifier: ANN, password }) }
    },
    lastSessions,
  ),
  scenario(
    'refresh without rotation',
    async (p) => {
      const { refreshToken } = await p.register()
      return { send: () => p.post('/token/refresh', { refreshToken }) }
    },
    lastSessions,
  ),
  scenario(
    'confirm without sessions',
    async (p, place) => {
      const { token } = await p.register()
      place.later(700)
      return { send: () => p.post('/login/confirm', { password }, token) }
    },
    stateless,
  ),
  scenario(
    'reset without sessions',
    async (p) => {
      const { token } = await p.register()
      await p.post('/password/forgot', { identifier: ANN })
      const body = { identifier: ANN, code: p.code('passwordReset'), newPassword: `${password}!` }
      return {
        send: () => p.post('/password/reset', body),
        done: [400],
        check: async () => wrong(['the token ended', (await p.things(token)) === 401]),
      }
    },
    stateless,
  ),
]
