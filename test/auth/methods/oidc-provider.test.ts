import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OidcOptions, oidc } from '../../../adapters/methods/oidc/index.ts'
import { finish, followed } from '../openid.ts'
import { service } from '../service.ts'
import { Visitor } from './visitor.ts'

const clientSecret = 'a secret of the provider, long enough for it'
const redirectUri = 'https://api.example.com/auth/login/oidc/company/callback'

let issuer = ''
const server = createServer((request, response) => {
  response.shouldKeepAlive = false
  if (request.url?.startsWith('/interaction/')) void finish(provider, request, response)
  else void provider.callback()(request, response)
}).listen(0, '127.0.0.1')
let provider: Provider

beforeAll(async () => {
  if (!server.listening) await once(server, 'listening')
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = {
    redirect_uris: [redirectUri],
    response_types: ['code'],
    grant_types: ['authorization_code'],
  }
  provider = new Provider(issuer, {
    clients: [
      { ...client, client_id: 'header', client_secret: clientSecret },
      {
        ...client,
        client_id: 'body',
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
      },
      { ...client, client_id: 'public', token_endpoint_auth_method: 'none' },
    ],
    cookies: { keys: ['only for this test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, name: 'A name' }),
    }),
  })
})
afterAll(() => server.close())

/** An app with the provider, and a browser. */
async function signedUpAt(options: Partial<OidcOptions> & Pick<OidcOptions, 'clientId'>) {
  const more = { name: 'company', issuer, returnTo: ['https://example.com/in'] }
  const auth = { methods: [oidc({ ...more, ...options })] }
  const app = await service({ auth, app: { now: Date.now } })
  const visitor = new Visitor(app.app)
  /** The provider's answer to a browser that signs in as `sub` there. */
  const answerFor = async (asked: URL, sub: string) => {
    asked.searchParams.set('login_hint', sub)
    asked.searchParams.set('prompt', 'login')
    return Object.fromEntries(new URL(await followed(asked.href, redirectUri)).searchParams)
  }
  const signIn = async (sub: string) => {
    const asked = await visitor.begin('company')
    const code = (await visitor.answer(asked, await answerFor(asked, sub))).get('code')
    return app.post('/auth/login/oidc', { code })
  }
  return { ...app, visitor, answerFor, signIn }
}

describe('With oidc-provider', () => {
  it.each([{ clientId: 'header', clientSecret }, { clientId: 'public' }])(
    '$clientId signs in again and again, to the same account',
    async (options) => {
      const app = await signedUpAt(options)
      const [one, same, other] = [
        await app.signIn('ann'),
        await app.signIn('ann'),
        await app.signIn('bob'),
      ]
      const user = { email: 'ann@example.com', name: 'A name' }
      expect([one.status, one.body.data.user]).toEqual([200, expect.objectContaining(user)])
      expect(same.body.data.user._id).toBe(one.body.data.user._id)
      expect(other.body.data.user.email).toBe('bob@example.com')
    },
  )

  it('says when a person signed in there, for an app that limits it', async () => {
    const app = await signedUpAt({ clientId: 'public', maxAge: 60 })
    expect((await app.signIn('ann')).status).toBe(200)
  })

  it('a user who cancels comes back without a code', async () => {
    const app = await signedUpAt({ clientId: 'public' })
    const asked = await app.visitor.begin('company')
    const outcome = await app.visitor.answer(asked, await app.answerFor(asked, 'nobody'))
    expect(Object.fromEntries(outcome)).toEqual({ error: 'access_denied' })
  })

  it.each<[string, (app: Awaited<ReturnType<typeof signedUpAt>>) => Promise<URLSearchParams>]>([
    [
      'with the code of another browser',
      async ({ app, visitor, answerFor }) => {
        const attacker = await new Visitor(app).begin('company')
        const asked = await visitor.begin('company')
        const { code = '', iss = '' } = await answerFor(attacker, 'eve')
        return visitor.answer(asked, { code, iss })
      },
    ],
    [
      'with a code that was used',
      async ({ visitor, answerFor }) => {
        const [asked, again] = [await visitor.begin('company'), await visitor.begin('company')]
        const { state, ...answer } = await answerFor(asked, 'ann')
        expect((await visitor.answer(asked, answer)).has('code')).toBe(true)
        return visitor.answer(again, answer)
      },
    ],
    [
      'without the issuer in the answer',
      async ({ visitor, answerFor }) => {
        const asked = await visitor.begin('company')
        const { code = '' } = await answerFor(asked, 'ann')
        return visitor.answer(asked, { code })
      },
    ],
    [
      'as an app with another secret',
      async ({ visitor, answerFor }) => {
        const asked = await visitor.begin('company')
        return visitor.answer(asked, await answerFor(asked, 'ann'))
      },
    ],
  ])('nobody signs in %s', async (title, attempt) => {
    const wrong = { clientId: 'header', clientSecret: 'a guess' }
    const app = await signedUpAt(title.endsWith('secret') ? wrong : { clientId: 'public' })
    expect(Object.fromEntries(await attempt(app))).toEqual({ error: 'sign_in_failed' })
    expect(await app.users.count()).toBe(0)
  })
})
