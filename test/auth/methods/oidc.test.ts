import { describe, expect, it } from 'vitest'
import { password } from '../accounts.ts'
import { parallel, statuses } from '../service.ts'
import { cutStore } from './cut-store.ts'
import type { Say } from './issuer.ts'
import { company, vouched } from './oidc-world.ts'
import { Visitor } from './visitor.ts'

const begin = '/auth/login/oidc/company'
const returnTo = encodeURIComponent('https://example.com/in')

describe('A sign-in at an OpenID provider begins', () => {
  it('with a redirect that has PKCE, a state and a nonce, bound to the browser', async () => {
    const app = await company()
    const { status, location, set } = await app.visitor.open(`${begin}?returnTo=${returnTo}`)
    expect(status).toBe(302)
    const to = new URL(location)
    expect(to.origin + to.pathname).toBe(`${app.issuer.url}/authorize`)
    const random = expect.stringMatching(/^[\w-]{43}$/)
    expect(Object.fromEntries(to.searchParams)).toEqual({
      tenant: '1',
      response_type: 'code',
      client_id: 'atlas',
      redirect_uri: `https://api.example.com${begin}/callback`,
      scope: 'openid email profile',
      ...{ state: random, nonce: random, code_challenge: random },
      code_challenge_method: 'S256',
    })
    expect(set).toEqual([
      expect.stringMatching(
        /^__Host-[\w-]+=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=900$/,
      ),
    ])
    const { state = '', nonce = '' } = Object.fromEntries(to.searchParams)
    expect(set[0]).not.toContain(state)
    expect(set[0]).not.toContain(nonce)
  })

  it('to a callback that is where `routes`, the mount and a proxy in front have put it', async () => {
    const routes = { beginOidc: '/to/:name', finishOidc: '/back/from/:name' }
    const app = await company({ auth: { routes } as never })
    const { location } = await app.visitor.open('/auth/to/company?returnTo=/in')
    expect(new URL(location).searchParams.get('redirect_uri')).toBe(
      'https://api.example.com/auth/back/from/company',
    )
    // A proxy that ends TLS says so, another one adds its own, or says something that is no scheme.
    for (const [said, scheme] of [
      ['https', 'https'],
      ['https, http', 'https'],
      ['nonsense:', 'http'],
    ] as const) {
      const headers = { 'x-forwarded-proto': said }
      const url = 'http://api.example.com/auth/to/company?returnTo=/in'
      const { headers: found } = await app.app.handle(new Request(url, { headers }))
      expect(new URL(found.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
        `${scheme}://api.example.com/auth/back/from/company`,
      )
    }
  })

  it('anew each time: nothing in it was there before', async () => {
    const app = await company()
    const [one, other] = [await app.visitor.begin('company'), await app.visitor.begin('company')]
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(one.searchParams.get(name)).not.toBe(other.searchParams.get(name))
    }
  })

  it('with the scopes and the redirect URI of its options', async () => {
    const redirectUri = 'https://auth.example.com/back'
    const app = await company({}, { scopes: ['openid', 'groups'], redirectUri })
    const { searchParams } = await app.visitor.begin('company')
    expect(searchParams.get('scope')).toBe('openid groups')
    expect(searchParams.get('redirect_uri')).toBe(redirectUri)
  })

  it('only for a page that the app returns to, letter by letter', async () => {
    const app = await company()
    const others = [
      '',
      'https://example.com/in/',
      'https://example.com/IN',
      'https://example.com/in?x=1',
      'https://example.com/in#',
      'https://example.com/%69n',
      'https://example.com.evil.example/in',
      'http://example.com/in',
      '//evil.example',
      'javascript:alert(1)',
    ]
    for (const other of others) {
      const { status, text, set } = await app.visitor.open(
        `${begin}?returnTo=${encodeURIComponent(other)}`,
      )
      expect([other, status, JSON.parse(text).error, set]).toEqual([
        other,
        400,
        "'returnTo' must be one of the pages that this app returns to.",
        [],
      ])
    }
    for (const query of ['', `?returnTo=${returnTo}&returnTo=${returnTo}`, '?returnTo[x]=1']) {
      expect((await app.visitor.open(begin + query)).status).toBe(400)
    }
    expect(app.issuer.described).toBe(0)
  })

  it('at no provider that is not there', async () => {
    const app = await company()
    for (const name of ['other', '__proto__', 'constructor', 'COMPANY', '%00', 'a'.repeat(500)]) {
      const { status } = await app.visitor.open(`/auth/login/oidc/${name}?returnTo=${returnTo}`)
      expect([name, status]).toEqual([name, 404])
      const callback = await app.visitor.open(`/auth/login/oidc/${name}/callback?state=x&code=y`)
      expect([name, callback.status]).toEqual([name, 404])
    }
  })

  it.each<[string, Say]>([
    ['of another issuer', { description: { issuer: 'https://evil.example' } }],
    ['without an issuer', { description: { issuer: undefined } }],
  ])('at no provider whose description is %s', async (_, say) => {
    const app = await company()
    app.issuer.say = say
    const { status, text } = await app.visitor.open(`${begin}?returnTo=${returnTo}`)
    expect([status, JSON.parse(text).error]).toEqual([
      503,
      'Could not reach the identity provider.',
    ])
    app.issuer.say = {}
    expect((await app.visitor.open(`${begin}?returnTo=${returnTo}`)).status).toBe(302)
  })

  it('with a description that is read once in an hour', async () => {
    const app = await company()
    await Promise.all([app.visitor.begin('company'), app.visitor.begin('company')])
    app.later(3599)
    await app.visitor.begin('company')
    expect(app.issuer.described).toBe(1)
    app.later(1)
    await app.visitor.begin('company')
    expect(app.issuer.described).toBe(2)
  })
})

describe('An answer of the provider', () => {
  it('brings the browser back with a code, which opens a session', async () => {
    const app = await company()
    const asked = await app.visitor.begin('company')
    app.issuer.say = { claims: { nonce: asked.searchParams.get('nonce'), ...vouched } }
    const state = String(asked.searchParams.get('state'))
    const path = `${begin}/callback?code=c1&state=${state}`
    const { status, location, set } = await app.visitor.open(path)
    expect(status).toBe(302)
    expect(location).toMatch(/^https:\/\/example\.com\/in#code=[\w.-]+$/)
    expect(set).toEqual([expect.stringMatching(/^__Host-[\w-]+=; .*Max-Age=0$/)])
    const [sent] = app.issuer.asked
    expect(Object.fromEntries(sent ?? [])).toEqual({
      grant_type: 'authorization_code',
      client_id: 'atlas',
      code: 'c1',
      redirect_uri: `https://api.example.com${begin}/callback`,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(await sha256(String(sent?.get('code_verifier')))).toBe(
      asked.searchParams.get('code_challenge'),
    )
    const code = new URL(location).hash.slice('#code='.length)
    const answer = await app.post('/auth/login/oidc', { code })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({
      token: expect.any(String),
      refreshToken: expect.any(String),
      user: { email: vouched.email },
    })
    const me = await app.call('GET', '/auth/me', undefined, answer.body.data.token)
    expect(me.body.data.email).toBe(vouched.email)
    expect(app.events).toEqual(['signed-up', 'signed-in'])
  })

  it('shows the secret of the app in the header, or in the body where only that is taken', async () => {
    const secret = { clientSecret: 'a-secret_of.the~provider with + signs' }
    const app = await company({}, secret)
    await app.signIn()
    const basic = 'atlas:a-secret_of.the~provider%20with%20%2B%20signs'
    expect(app.issuer.secrets).toEqual([`Basic ${btoa(basic)}`])
    const body = await company({}, secret)
    body.issuer.say = {
      description: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
    }
    await body.signIn()
    expect(body.issuer.secrets).toEqual([undefined])
    expect(body.issuer.asked[0]?.get('client_secret')).toBe(secret.clientSecret)
  })

  it('is refused in another browser than the one that began, and its code is sent nowhere', async () => {
    const app = await company()
    const asked = await app.visitor.begin('company')
    const state = String(asked.searchParams.get('state'))
    const other = new Visitor(app.app)
    await other.begin('company')
    for (const query of [
      `state=${state}&code=c`,
      'code=c',
      'state=&code=c',
      'error=access_denied',
    ]) {
      const { status, location, text } = await other.open(`${begin}/callback?${query}`)
      expect([status, location]).toEqual([401, ''])
      expect(JSON.parse(text).error).toBe('This sign-in has expired. Start again.')
    }
    // Nor with a cookie that was renamed, or made for another provider.
    const [[name = '', value = ''] = []] = other.cookies
    other.cookies.set(`${name.slice(0, -8)}${state.slice(0, 8)}`, value)
    expect((await other.open(`${begin}/callback?state=${state}&code=c`)).status).toBe(401)
    expect(app.issuer.asked).toEqual([])
  })

  it('counts once', async () => {
    const app = await company()
    const asked = await app.visitor.begin('company')
    app.issuer.say = { claims: { nonce: asked.searchParams.get('nonce') } }
    const kept = new Map(app.visitor.cookies)
    expect((await app.visitor.answer(asked, { code: 'c' })).get('code')).toEqual(expect.any(String))
    for (const [name, value] of kept) app.visitor.cookies.set(name, value)
    expect(Object.fromEntries(await app.visitor.answer(asked, { code: 'c' }))).toEqual({
      error: 'sign_in_failed',
    })
    expect(app.issuer.asked).toHaveLength(1)
  })

  it('counts for fifteen minutes, in each of several tabs', async () => {
    const app = await company()
    const [one, other] = [await app.visitor.begin('company'), await app.visitor.begin('company')]
    app.later(899)
    app.issuer.say = { claims: { nonce: one.searchParams.get('nonce') } }
    expect((await app.visitor.answer(one, { code: 'c' })).has('code')).toBe(true)
    app.later(1)
    await expect(app.visitor.answer(other, { code: 'c' })).rejects.toThrow(/^401/)
  })

  it('of another issuer is refused before the code is sent anywhere', async () => {
    const app = await company()
    const asked = await app.visitor.begin('company')
    const mixed = await app.visitor.answer(asked, { code: 'c', iss: 'https://evil.example' })
    expect(Object.fromEntries(mixed)).toEqual({ error: 'sign_in_failed' })
    // Nor without one, where the provider says that it always names itself.
    app.later(3600)
    app.issuer.say = { description: { authorization_response_iss_parameter_supported: true } }
    const again = await app.visitor.answer(await app.visitor.begin('company'), { code: 'c' })
    expect(Object.fromEntries(again)).toEqual({ error: 'sign_in_failed' })
    expect(app.issuer.asked).toEqual([])
  })

  it.each([
    [{ error: 'access_denied', error_description: 'No.' }, 'access_denied'],
    [{ error: 'login_required' }, 'login_required'],
    [{ error: '"><script>' }, 'sign_in_failed'],
    [{}, 'sign_in_failed'],
    [{ code: 'c', id_token: 'x' }, 'sign_in_failed'],
  ])('that fails goes back without a code: %o', async (answer, error) => {
    const app = await company()
    const outcome = await app.visitor.answer(await app.visitor.begin('company'), answer)
    expect(Object.fromEntries(outcome)).toEqual({ error })
  })

  it.each([
    [400, 'sign_in_failed'],
    [401, 'sign_in_failed'],
    [429, 'temporarily_unavailable'],
    [500, 'temporarily_unavailable'],
    [302, 'temporarily_unavailable'],
  ])('whose code the provider answers with a %i is %s', async (status, error) => {
    const app = await company()
    app.issuer.say = { tokens: { status, body: { error: 'invalid_grant' } } }
    const outcome = await app.visitor.answer(await app.visitor.begin('company'), { code: 'c' })
    expect(Object.fromEntries(outcome)).toEqual({ error })
    expect(app.log.join()).toContain("a sign-in at 'company' failed")
    expect(app.events).toEqual(['sign-in-failed'])
  })
})

describe('A sign-in while the database is out', () => {
  it('is temporarily unavailable, and the log says why', async () => {
    const { store, cut } = cutStore('insert')
    const app = await company({ store })
    const asked = await app.visitor.begin('company')
    cut(true)
    const outcome = await app.visitor.answer(asked, { code: 'c' })
    expect(Object.fromEntries(outcome)).toEqual({ error: 'temporarily_unavailable' })
    expect(app.log.join()).toContain('the connection was cut')
  })
})

describe('An ID token is refused', () => {
  const long = 10 * 365 * 86_400
  it.each<[string, Say]>([
    ['without a signature', { by: 'nobody' }],
    ['signed with another key', { by: 'another key' }],
    ['signed with the public key as a secret', { by: 'the public key as a secret' }],
    ['with a key id that is not known', { header: { kid: 'two' } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['for another app', { claims: { aud: 'other' } }],
    ['for an app of a similar name', { claims: { aud: 'atlas2' } }],
    ['for several apps, given to another', { claims: { aud: ['atlas', 'x'], azp: 'x' } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['that has expired', { claims: { exp: 1 } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['that is not valid yet', { claims: { nbf: Date.now() / 1000 + long } }],
    ['without a person', { claims: { sub: undefined } }],
    ['with an empty person', { claims: { sub: '' } }],
    ['with a person of the wrong type', { claims: { sub: 1 } }],
    ['with a person that has control characters', { claims: { sub: 'a\u0000b' } }],
    [
      'if it is none',
      { tokens: { status: 200, body: { access_token: 'a', token_type: 'Bearer' } } },
    ],
    ['if more about another person comes with it', { userInfo: { sub: 'bob' } }],
  ])('%s', async (_, say) => {
    const app = await company()
    app.issuer.say = say
    expect(await app.brought(say.claims)).toBe('error: sign_in_failed')
    expect(app.events).toEqual(['sign-in-failed'])
    app.issuer.say = {}
    expect(await app.brought()).not.toContain('error')
  })
})

describe('The code of a page', () => {
  it('opens one session, also of parallel requests', async () => {
    const app = await company()
    const code = await app.brought(vouched)
    const answers = await parallel(10, () => app.post('/auth/login/oidc', { code }))
    expect(statuses(answers)).toEqual({ 200: 1, 401: 9 })
    expect(app.events.filter((type) => type === 'sign-in-failed')).toHaveLength(9)
    const refused = answers.find(({ status }) => status === 401)
    expect(refused?.body.error).toBe('Invalid credentials.')
    expect(await app.users.count()).toBe(1)
  })

  it('is valid for 60 seconds', async () => {
    const app = await company()
    const [one, other] = [await app.brought(), await app.brought()]
    app.later(59)
    expect((await app.post('/auth/login/oidc', { code: one })).status).toBe(200)
    app.later(1)
    expect((await app.post('/auth/login/oidc', { code: other })).status).toBe(401)
  })

  it('is refused changed, empty, cut, or of the wrong type', async () => {
    const app = await company()
    const code = await app.brought()
    // The last character has bits that count for nothing: each code has one spelling.
    const spelled = ['A', 'B', 'C', 'D', 'Q', 'R'].map((last) => code.slice(0, -1) + last)
    const wrong = ['', 'x', code.slice(1), `${code}=`, `${code} `, ...spelled]
    for (const one of wrong.filter((each) => each !== code)) {
      expect([one, (await app.post('/auth/login/oidc', { code: one })).status]).toEqual([one, 401])
    }
    for (const one of [undefined, null, 1, true, {}, [code], { $ne: null }]) {
      const answer = await app.post('/auth/login/oidc', { code: one })
      expect([answer.status, answer.body.error]).toEqual([400, 'Invalid credentials format.'])
    }
    expect((await app.post('/auth/login/oidc', { code, verifier: 1 })).status).toBe(400)
    expect((await app.post('/auth/login/oidc', { code })).status).toBe(200)
  })

  it('is of use only to the page that began, if that has given a challenge', async () => {
    const app = await company()
    const verifier = 'what only this page has kept'
    const challenge = await sha256(verifier)
    const page = async () => {
      const asked = await app.visitor.begin('company', undefined, { challenge })
      app.issuer.say = { claims: { nonce: asked.searchParams.get('nonce') } }
      return (await app.visitor.answer(asked, { code: 'c' })).get('code')
    }
    const code = await page()
    const send = async (more: object) =>
      (await app.post('/auth/login/oidc', { code, ...more })).status
    expect(await send({})).toBe(401)
    expect(await send({ verifier: 'a guess' })).toBe(401)
    expect(await send({ verifier })).toBe(200)
    const atLogin = { oidc: await page(), verifier }
    expect((await app.post('/auth/login', atLogin)).status).toBe(200)
    // A link with a code of one's own signs no page in that has begun, though the code has no challenge.
    expect(await send({ code: await app.brought(), verifier })).toBe(401)
    const malformed = await app.visitor.open(`${begin}?returnTo=${returnTo}&challenge=short`)
    expect(malformed.status).toBe(400)
  })

  it('is no code of another kind', async () => {
    const app = await company()
    const code = await app.brought()
    await app.visitor.begin('company')
    const [cookie] = app.visitor.cookies.values()
    expect((await app.post('/auth/login/oidc', { code: cookie })).status).toBe(401)
    expect((await app.post('/auth/login', { ticket: code, totp: '000000' })).status).toBe(401)
    const body = { identifier: vouched.email, code, newPassword: password }
    expect((await app.post('/auth/password/reset', body)).status).toBe(400)
    expect((await app.call('GET', '/auth/me', undefined, code)).status).toBe(401)
  })

  it('signs in at POST /login, too', async () => {
    const app = await company()
    const { status, body } = await app.post('/auth/login', { oidc: await app.brought(vouched) })
    expect([status, body.data.user.email]).toEqual([200, vouched.email])
  })
})

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(bytes).toString('base64url')
}
