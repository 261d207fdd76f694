/**
 * Accounts of every kind that an answer must not tell apart, in an app of its own. Runs on any runtime.
 *
 * @module
 */

import { randomBytes, scrypt } from 'node:crypto'
import * as z from 'zod'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import {
  type App,
  type AuthOptions,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Store,
} from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { authOptions, password, userModel } from '../accounts.ts'
import { Authenticator, type PublicKey } from '../methods/authenticator.ts'
import { Brought } from '../methods/brought.ts'

/** The kinds; `unknown` has no account. */
export const KINDS = [
  'known',
  'unknown',
  'locked',
  'disabled',
  'social',
  'asked',
  'seen',
  'ended',
] as const

/** A kind of account. */
export type Kind = (typeof KINDS)[number]

/** The address of the account of a kind. */
export function emailOf(kind: Kind): string {
  return `${kind}@example.com`
}

/** The id of the passkey of the account with that address. */
export function credentialOf(email: string): string {
  return Buffer.from(email.padEnd(32, '.')).toString('base64url')
}

/** The client that has signed in to the account of the kind `seen`. */
export const CLIENT = '192.0.2.7'

/** The default hasher at a small part of its cost, so that less noise hides a difference. */
const light = (plain: string, salt: string): Promise<string> =>
  new Promise((resolve, reject) =>
    scrypt(plain, salt, 32, { N: 2048, r: 8, p: 1 }, (error, hash) =>
      error ? reject(error) : resolve(`${salt}:${hash.toString('hex')}`),
    ),
  )
export const lightHashing = {
  hash: (plain: string) => light(plain, randomBytes(16).toString('hex')),
  verify: async (plain: string, stored: string) =>
    (await light(plain, stored.slice(0, stored.indexOf(':')))) === stored,
}

/** What a route has made. */
interface Made {
  readonly user: { readonly _id: string }
  readonly token: string
  readonly id: string
  readonly publicKey: PublicKey
  readonly ticket: string
}

/** An app and the state of its accounts. */
export interface Subject {
  readonly app: App
  /** Makes the accounts. */
  prepare(): Promise<void>
  /** Gives what guesses have used up back, so that a long measurement finds every account as it was. */
  restore(): Promise<void>
}

/** The app over `store`; `hashing` is the option `password`, and `onSend` hears of every mail. */
export function subject(
  store: Store,
  hashing: AuthOptions<Fields>['password'] = lightHashing,
  onSend = () => {},
): Subject {
  const social = { google: { clientId: 'client' } }
  const brought = new Brought()
  const issuer = 'https://login.example.com'
  const company = oidc({ name: 'company', issuer, clientId: 'atlas', returnTo: ['/in'] })
  const options = {
    identifiers: ['email', 'phone'],
    emailVerification: { enabled: true },
    social,
    fields: { disabled: 'banned' },
    lockout: { maxAttempts: 1_000_000, lockSeconds: 1_000_000 },
    otp: { resendSeconds: 60, maxAttempts: 100 },
    password: hashing,
    mail: { sender: onSend },
    methods: [
      emailCode(),
      passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }),
      apiKeys(),
      brought.sealed(company),
    ],
  } as const
  const User = userModel({
    auth: options,
    fields: { banned: z.boolean().optional() },
    unique: ['googleId'],
  })
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store, logger, env: {} })
  const auth = createAuthRouter(authOptions(User, [], options))
  app.mount('/auth', auth.router)
  const Thing = defineModel('TimedThing', { fields: {} })
  app.mount('/things', createRouter({ model: Thing, middlewares: [auth.requireAuth] }))
  const keys = new Map<string, string>()
  app.post('/prepared', async (request) => {
    const { email } = (await request.json()) as { email: string }
    const person = { sub: crypto.randomUUID(), email, isVouched: false }
    const code = await brought.code('company', person, Date.now() + 60_000)
    return { code, key: `fg_${keys.get(email) ?? 'f'.repeat(24)}_${'a'.repeat(43)}` }
  })
  const users = app.store.collection(User)
  const ids = new Map<Kind, string>()
  const later = new Date(Date.now() + 1e10)

  const call = async (path: string, body: object, clientAddress?: string, token?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const work: Promise<unknown>[] = []
    const platform = { clientAddress, waitUntil: (one: Promise<unknown>) => work.push(one) }
    const request = new Request(`http://localhost/auth/${path}`, init)
    const response = await app.handle(request, undefined, platform)
    await Promise.all(work)
    return response.json() as Promise<{ data: Made }>
  }

  /** Gives the account of `token` a passkey and a key. */
  async function equip(email: string, token: string): Promise<void> {
    const allow = [{ mount: '*', actions: ['list'] }]
    const key = (await call('keys', { name: 'Key', allow }, undefined, token)).data
    keys.set(email, key.id)
    const { publicKey, ticket } = (await call('passkeys/options', {}, undefined, token)).data
    const id = Buffer.from(credentialOf(email), 'base64url')
    const credential = await Object.assign(new Authenticator(), { id }).create(publicKey)
    await call('passkeys', { ticket, credential }, undefined, token)
  }

  return {
    app,
    async prepare() {
      for (const kind of KINDS) {
        if (kind === 'unknown') continue
        const { data } = await call('register', { email: emailOf(kind), password })
        ids.set(kind, data.user._id)
        await equip(emailOf(kind), data.token)
      }
      const id = (kind: Kind) => ids.get(kind) ?? ''
      await users.update(id('locked'), { lockedUntil: later, failedLoginAttempts: 1_000_000 })
      await users.update(id('ended'), { wrongPasswords: 100 })
      await users.update(id('disabled'), { banned: true })
      await users.update(id('social'), { password: undefined, googleId: 'google-1' })
      await call('login', { identifier: emailOf('seen'), password }, CLIENT)
      await call('password/forgot', { identifier: emailOf('asked') })
      await call('email/code', { identifier: emailOf('asked') })
      await call('login/code', { identifier: emailOf('asked') })
      await users.update(id('asked'), { otpExpiresAt: later, verifyOtpExpiresAt: later })
      // So that the one who is asked for is not the only one there is.
      for (let other = 0; other < 100; other += 1)
        await users.insert({ email: `other${other}@example.com` })
    },
    async restore() {
      await users.update(ids.get('asked') ?? '', { otpAttempts: 0, verifyOtpAttempts: 0 })
      for (const [kind, id] of ids) {
        const { knownClients }: Fields = (await users.findById(id)) ?? {}
        const known = (knownClients as Fields[] | undefined)?.map((one) => ({ ...one, wrong: 0 }))
        const wrongPasswords = kind === 'ended' ? 100 : 0
        await users.update(id, { wrongPasswords, ...(known && { knownClients: known }) })
      }
    },
  }
}
