/**
 * Accounts of every kind that an answer must not tell apart, in an app of its own. Runs on any runtime.
 *
 * @module
 */

import { randomBytes, scrypt } from 'node:crypto'
import * as z from 'zod'
import {
  type App,
  type AuthOptions,
  createApp,
  createAuthRouter,
  type Fields,
  type Store,
} from '../../../src/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { authOptions, password, userModel } from '../accounts.ts'

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
  const options = {
    identifiers: ['email', 'phone'],
    emailVerification: { enabled: true },
    social,
    fields: { disabled: 'banned' },
    lockout: { maxAttempts: 1_000_000, lockSeconds: 1_000_000 },
    otp: { resendSeconds: 60, maxAttempts: 100 },
    password: hashing,
    mail: { sender: onSend },
    methods: [emailCode()],
  } as const
  const User = userModel({
    auth: options,
    fields: { banned: z.boolean().optional() },
    unique: ['googleId'],
  })
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store, logger, env: {} })
  app.mount('/auth', createAuthRouter(authOptions(User, [], options)).router)
  const users = app.store.collection(User)
  const ids = new Map<Kind, string>()
  const later = new Date(Date.now() + 1e10)

  const call = async (path: string, body: object, clientAddress?: string) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const work: Promise<unknown>[] = []
    const platform = { clientAddress, waitUntil: (one: Promise<unknown>) => work.push(one) }
    const request = new Request(`http://localhost/auth/${path}`, init)
    const response = await app.handle(request, undefined, platform)
    await Promise.all(work)
    return response.json() as Promise<{ data: { user: { _id: string } } }>
  }

  return {
    app,
    async prepare() {
      for (const kind of KINDS) {
        if (kind === 'unknown') continue
        const { data } = await call('register', { email: emailOf(kind), password })
        ids.set(kind, data.user._id)
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
