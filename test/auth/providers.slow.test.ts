import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runs } from '../runs.ts'
import { answering, listening } from './endpoints.ts'
import { credentialsOf, startOpenId } from './openid.ts'
import { parallel, type Service, service } from './service.ts'

const refused = [401, 'The provider did not accept this sign-in.']
const unreachable = [503, 'Could not reach the identity provider.']
const told = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error]

async function withFacebook(debug: unknown, me: unknown): Promise<Service> {
  const endpoints = await answering({
    '/debug_token': (_, url) =>
      url.searchParams.get('access_token') === 'app|sesame' &&
      url.searchParams.get('input_token') === 'token'
        ? debug
        : 400,
    '/me': (_, url) =>
      /^[0-9a-f]{64}$/.test(url.searchParams.get('appsecret_proof') ?? '') ? me : 400,
  })
  return service({
    auth: { social: { facebook: { appId: 'app', appSecret: 'sesame', endpoints } } },
    unique: ['facebookId'],
  })
}

const verifier = 'v'.repeat(43)

interface Github {
  readonly check?: unknown
  readonly user?: unknown
  readonly emails?: unknown
}

async function withGithub({
  check = {},
  user = { id: 7, name: 'Ann', email: 'public@example.com' },
  emails = [],
}: Github = {}): Promise<Service> {
  const byToken = (answer: unknown) => (request: IncomingMessage) =>
    request.headers.authorization === 'Bearer token' ? answer : 401
  const endpoints = await answering({
    '/login/oauth/access_token': (_, __, body) => {
      const { code, code_verifier, client_id, client_secret, redirect_uri } = JSON.parse(body)
      const known =
        client_id === 'app' &&
        client_secret === 'sesame' &&
        redirect_uri === 'https://app.example.com/cb'
      const fits = code === 'code' || (code === 'with challenge' && code_verifier === verifier)
      return known && fits ? { access_token: 'token' } : { error: 'bad_verification_code' }
    },
    '/applications/app/token': (request, _, body) => {
      const basic = request.headers.authorization === `Basic ${btoa('app:sesame')}`
      return basic && JSON.parse(body).access_token === 'token' ? check : 404
    },
    '/user': byToken(user),
    '/user/emails': byToken(emails),
  })
  const settings = {
    clientId: 'app',
    clientSecret: 'sesame',
    redirectUri: 'https://app.example.com/cb',
    endpoints,
  }
  return service({ auth: { social: { github: settings } }, unique: ['githubId'] })
}

describe('4.5 POST /social/facebook', () => {
  const genuine = { data: { is_valid: true, app_id: 'app', user_id: '42' } }
  const person = { id: '42', name: 'Ann', email: 'ann@example.com' }
  const signIn = ({ post }: Service, accessToken = 'token') =>
    post('/auth/social/facebook', { accessToken })

  it('signs in by a token of this app', async () => {
    const answer = await signIn(await withFacebook(genuine, person))
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({
      provider: 'facebook',
      user: { facebookId: '42', name: 'Ann' },
    })
    // Facebook does not say whether it has verified the address.
    expect(answer.body.data.user).not.toHaveProperty('email')
  })

  it('refuses tokens of another app, invalid ones, and those of another user', async () => {
    for (const data of [
      { is_valid: true, app_id: 'other', user_id: '42' },
      { is_valid: true, app_id: 'app2', user_id: '42' },
      { is_valid: false, app_id: 'app', user_id: '42' },
      { is_valid: 'true', app_id: 'app', user_id: '42' },
      { is_valid: true, app_id: 'app', user_id: '43' },
      undefined,
    ]) {
      expect(told(await signIn(await withFacebook({ data }, person)))).toEqual(refused)
    }
    expect(told(await signIn(await withFacebook(genuine, person), 'forged'))).toEqual(refused)
  })

  it('its addresses link nothing', async () => {
    const app = await withFacebook(genuine, person)
    await app.register('ann@example.com')
    expect((await signIn(app)).status).toBe(409)
  })
})

describe('4.5 POST /social/github', () => {
  const signIn = ({ post }: Service, body: object = { accessToken: 'token' }) =>
    post('/auth/social/github', body)
  const verified = [
    { email: 'other@example.com', primary: false, verified: true },
    { email: 'ann@example.com', primary: true, verified: true },
  ]

  it('signs in by a token of this app, or a code', async () => {
    const app = await withGithub({ emails: verified })
    for (const body of [{ accessToken: 'token' }, { code: 'code' }]) {
      const answer = await signIn(app, body)
      expect(answer.body.data).toMatchObject({
        provider: 'github',
        user: { githubId: '7', email: 'ann@example.com' },
      })
    }
  })

  it('hands the code verifier on, for GitHub to check', async () => {
    const app = await withGithub({ emails: verified })
    const code = 'with challenge'
    expect((await signIn(app, { code, codeVerifier: verifier })).status).toBe(200)
    const wrong = [undefined, '', 'w'.repeat(43), 'v'.repeat(42), `${verifier} `, 5]
    for (const codeVerifier of wrong) {
      expect(told(await signIn(app, { code, codeVerifier }))).toEqual(refused)
    }
    const shaped = await signIn(app, { code, codeVerifier: { $ne: '' } })
    expect(told(shaped)).toEqual([400, 'Invalid credentials format.'])
  })

  it('refuses a token of another app, and a wrong code', async () => {
    const app = await withGithub()
    expect(told(await signIn(app, { accessToken: 'of another app' }))).toEqual(refused)
    expect(told(await signIn(app, { code: 'wrong' }))).toEqual(refused)
    expect(told(await signIn(await withGithub({ check: 422 })))).toEqual(refused)
  })

  it('only a primary, verified address links; the public one never', async () => {
    for (const emails of [
      [],
      [{ email: 'ann@example.com', primary: true, verified: false }],
      [{ email: 'ann@example.com', primary: false, verified: true }],
      404,
    ]) {
      const app = await withGithub({ emails, user: { id: 7, email: 'ann@example.com' } })
      await app.register('ann@example.com')
      const answer = await signIn(app)
      expect(answer.status).toBe(200)
      expect(answer.body.data.user).not.toHaveProperty('email')
    }
    const app = await withGithub({ emails: verified })
    const { user } = await app.register('ann@example.com')
    expect((await signIn(app)).body.data.user._id).toBe(user._id)
  })
})

describe('providers at once', () => {
  it('sign-ins with four of them at once do not mix', async () => {
    const openId = await startOpenId(['web', 'ios'])
    onTestFinished(() => openId.stop())
    const { issuer, jwks } = openId
    const person = (token: string | null | undefined) => token?.split('-').at(-1)
    const endpoints = await answering({
      '/debug_token': (_, url) => ({
        data: {
          is_valid: true,
          app_id: 'app',
          user_id: `f-${person(url.searchParams.get('input_token'))}`,
        },
      }),
      '/me': (_, url) => {
        const who = person(url.searchParams.get('access_token'))
        return { id: `f-${who}`, name: `facebook ${who}` }
      },
      '/applications/app/token': () => ({}),
      '/user': ({ headers }) => {
        const who = person(headers.authorization)
        return { id: `h-${who}`, name: `github ${who}` }
      },
      '/user/emails': () => [],
    })
    const app = await service({
      auth: {
        social: {
          google: { clientId: 'web', endpoints: { issuer, jwks } },
          apple: { clientId: 'ios', endpoints: { issuer, jwks } },
          facebook: { appId: 'app', appSecret: 'sesame', endpoints },
          github: { clientId: 'app', clientSecret: 'sesame', endpoints },
        },
      },
      unique: ['googleId', 'appleId', 'facebookId', 'githubId'],
      app: { now: () => Date.now() },
    })
    const signInsOf = async (who: number) => [
      {
        credentials: {
          ...credentialsOf(await openId.idToken('web', `g-${who}`, { name: `google ${who}` })),
        },
        expected: { provider: 'google', user: { googleId: `g-${who}`, name: `google ${who}` } },
      },
      {
        credentials: {
          ...credentialsOf(await openId.idToken('ios', `a-${who}`, {})),
          name: { firstName: 'apple', lastName: `${who}` },
        },
        expected: { provider: 'apple', user: { appleId: `a-${who}`, name: `apple ${who}` } },
      },
      {
        credentials: { accessToken: `token-${who}` },
        expected: {
          provider: 'facebook',
          user: { facebookId: `f-${who}`, name: `facebook ${who}` },
        },
      },
      {
        credentials: { accessToken: `token-${who}` },
        expected: { provider: 'github', user: { githubId: `h-${who}`, name: `github ${who}` } },
      },
    ]
    const people = runs(10)
    for (let round = 0; round < 2; round += 1) {
      const signIns = (await parallel(people, signInsOf)).flat()
      const answers = await Promise.all(
        signIns.map(({ expected, credentials }) =>
          app.post(`/auth/social/${expected.provider}`, credentials),
        ),
      )
      expect(answers.map(({ body }) => body.data)).toMatchObject(
        signIns.map(({ expected }) => expected),
      )
    }
    expect(await app.users.count()).toBe(4 * people)
  })
})

describe('a provider that misbehaves', () => {
  const github = async (origin: string) => {
    const app = await service({
      auth: { social: { github: { clientId: 'app', clientSecret: 'sesame', endpoints: origin } } },
      unique: ['githubId'],
    })
    return app.post('/auth/social/github', { accessToken: 'token' })
  }

  it('is a 503 without detail: errors, rate limits, redirects, floods, nonsense, silence', async () => {
    let inside = 0
    const target = await listening((_, response) => {
      inside += 1
      response.end('{}')
    })
    const answers: RequestListener[] = [
      (_, response) => {
        response.statusCode = 500
        response.end('secret detail')
      },
      (_, response) => {
        response.writeHead(429, { 'retry-after': '60' }).end('{"message":"rate limit"}')
      },
      // As GitHub limits: an app's requests of an hour, and those of a moment.
      (_, response) => {
        response.writeHead(403, { 'x-ratelimit-remaining': '0' }).end('{"message":"rate limit"}')
      },
      (_, response) => {
        response.writeHead(403, { 'retry-after': '60' }).end('{"message":"secondary limit"}')
      },
      (_, response) => {
        response.writeHead(302, { location: target }).end()
      },
      (_, response) => {
        response.writeHead(200)
        for (let mib = 0; mib < 10; mib += 1) response.write('x'.repeat(1024 * 1024))
        response.end()
      },
      (_, response) => void response.socket?.destroy(),
    ]
    for (const answer of answers)
      expect(told(await github(await listening(answer)))).toEqual(unreachable)
    expect(told(await github('http://127.0.0.1:1'))).toEqual(unreachable)
    const nonsense = await github(await listening((_, response) => void response.end('<html>')))
    expect(told(nonsense)).toEqual(refused)
    expect(inside).toBe(0)
  })

  it('is a 503 within the deadline when it never answers', async () => {
    const deadlines: number[] = []
    const { timeout } = AbortSignal
    const earlier = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      deadlines.push(ms)
      return timeout.call(AbortSignal, ms / 100)
    })
    onTestFinished(() => earlier.mockRestore())
    expect(told(await github(await listening(() => {})))).toEqual(unreachable)
    expect(deadlines).toContain(8000)
  })

  it('has its address in the log, not the secrets that go in a query', async () => {
    const facebook = { appId: 'app', appSecret: 'sesame', endpoints: 'http://127.0.0.1:1' }
    const app = await service({ auth: { social: { facebook } }, unique: ['facebookId'] })
    // As Deno tells of it.
    vi.stubGlobal('fetch', async (url: string) => {
      const cause = new Error(`error sending request for url (${url}): connection refused`)
      throw new TypeError('fetch failed', { cause })
    })
    onTestFinished(() => void vi.unstubAllGlobals())
    const accessToken = 'their-token'.repeat(30)
    expect(told(await app.post('/auth/social/facebook', { accessToken }))).toEqual(unreachable)
    const log = app.log.join('\n')
    expect(log).toContain('(http://127.0.0.1:1): connection refused')
    expect(log).not.toMatch(/sesame|their-token/)
  })

  it('is a 503 when its keys cannot be had', async () => {
    const jwks = [
      'http://127.0.0.1:1',
      await listening((_, response) => {
        response.statusCode = 404
        response.end()
      }),
      await listening((_, response) => void response.end('{"keys":5}')),
    ]
    const token = `${btoa('{"alg":"RS256","kid":"x"}').replace(/=+$/, '')}.e30.AA`
    for (const jwksUrl of jwks) {
      const app = await service({
        auth: { social: { google: { clientId: 'web', jwksUrl } } },
        unique: ['googleId'],
      })
      expect(told(await app.post('/auth/social/google', { idToken: token }))).toEqual(unreachable)
    }
  })
})
