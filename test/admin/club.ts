/**
 * An app with every way to sign in, and a provider that believes everyone.
 *
 * @module
 */

import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as z from 'zod'
import { oidc } from '../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../adapters/methods/passkeys/index.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { admin } from '../../packages/admin/src/index.ts'
import {
  type App,
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  userFields,
} from '../../src/index.ts'
import { emailCode } from '../../src/methods/email-code/index.ts'
import { totp } from '../../src/methods/totp/index.ts'
import { cheap } from '../auth/accounts.ts'

const secret = 'a secret of at least 32 characters, for tests'
const CLIENT = 'the-page'

/** The app, and what it has mailed. */
export interface Club {
  /** Disables the account of an address, or enables it again. */
  readonly disable: (email: string, disabled: boolean) => Promise<unknown>
  readonly app: App
  /** The code of the latest mail. */
  readonly mailed: () => string
  /** Moves the app's clock. */
  readonly later: (ms: number) => void
}

/** Notes that members read; `origin` is where the app will be, `issuer` an OpenID provider. */
export async function club(origin: string, issuer: string): Promise<Club> {
  let code = ''
  let ahead = 0
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }
  const social = {
    google: {
      clientId: CLIENT,
      nonce: 'hashed',
      endpoints: { issuer: origin, jwks: `${origin}/keys` },
    },
    demo: { verify: ({ accessToken }: Fields) => person('demo', accessToken === 'good') },
    own: {
      verify: async ({ code, codeVerifier }: Fields) =>
        person('own', (await challengeOf(String(codeVerifier))) === code),
    },
  } as const
  const User = defineModel('Member', {
    fields: { ...userFields({ refresh: {}, social }), disabled: z.boolean().optional() },
    unique: ['email', 'googleId', 'demoId', 'ownId'],
  })
  const Note = defineModel('Note', { fields: { text: z.string() } })
  const app = createApp({
    store: sqliteStore(),
    secret,
    now: () => Date.now() + ahead,
    logger: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  const auth = createAuthRouter({
    model: User,
    fields: { disabled: 'disabled' },
    token: { secret },
    refresh: { enabled: true },
    password: cheap,
    social,
    mail: {
      sender(mail) {
        code = mail.code ?? code
      },
    },
    onSecurityEvent: () => {},
    methods: [
      totp({ issuer: 'Club' }),
      emailCode({ signUp: true }),
      passkeys({ rpId: 'localhost', rpName: 'Club', origins: [origin] }),
      oidc({ name: 'company', issuer, clientId: 'atlas', returnTo: ['/admin'] }),
    ],
  })
  app
    .mount('/auth', auth.router)
    .mount('/notes', createRouter({ model: Note, middlewares: [auth.requireAuth] }))
    .mount(
      '/admin',
      admin({
        title: 'Club',
        providers: {
          google: { clientId: CLIENT, url: `${origin}/there` },
          demo: { clientId: CLIENT, url: `${origin}/there`, gives: 'accessToken' },
          own: { clientId: CLIENT, url: `${origin}/there`, gives: 'code' },
        },
      }),
    )
  app.get('/keys', () => Response.json({ keys: [key] }))
  app.get('/there', async ({ query }) => {
    const asked = query as Readonly<Record<string, string>>
    const { redirect_uri = '', state = '', nonce = '', code_challenge = '' } = asked
    const claims = { nonce, email: 'google@example.com', email_verified: true }
    const given = {
      id_token: async () =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', kid: 'one' })
          .setIssuer(origin)
          .setAudience(CLIENT)
          .setSubject('104')
          .setIssuedAt()
          .setExpirationTime('5m')
          .sign(privateKey),
      token: async () => 'good',
      code: async () => code_challenge,
    }
    const type = asked.response_type as keyof typeof given
    const names = { id_token: 'id_token', token: 'access_token', code: 'code' }
    const back = new URLSearchParams({ state, [names[type]]: await given[type]() })
    const mark = type === 'code' ? '?' : '#'
    return new Response(null, {
      status: 302,
      headers: { Location: `${redirect_uri}${mark}${back}` },
    })
  })
  return {
    app,
    async disable(email, disabled) {
      const users = app.store.collection(User)
      const [found] = await users.find({ email })
      return users.update(String(found?._id), { disabled })
    },
    mailed: () => code,
    later(ms) {
      ahead += ms
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

function person(name: string, isRight: boolean) {
  return isRight ? { id: name, email: `${name}@example.com`, emailVerified: true } : undefined
}

async function challengeOf(verifier: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return Buffer.from(hash).toString('base64url')
}
