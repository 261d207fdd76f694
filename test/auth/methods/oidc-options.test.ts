import { describe, expect, it } from 'vitest'
import { type OidcOptions, oidc } from '../../../adapters/methods/oidc/index.ts'
import { audit } from '../../../src/audit/index.ts'
import { document } from '../../../src/openapi/index.ts'
import { company } from './oidc-world.ts'

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>
  readonly requestBody?: unknown
  readonly parameters: readonly { readonly name: string }[]
}

describe('The options of a provider', () => {
  const good: OidcOptions = {
    name: 'company',
    issuer: 'https://login.example.com',
    clientId: 'atlas',
    returnTo: ['https://example.com/in'],
  }

  it.each<[string, object]>([
    ["it needs 'name'", { name: undefined }],
    ["it needs 'issuer'", { issuer: undefined }],
    ["it needs 'clientId'", { clientId: undefined }],
    ["it needs 'returnTo'", { returnTo: undefined }],
    ["'name' must have letters, digits, '-' and '_' only", { name: 'a/b' }],
    [
      "'issuer' of 'company' must be a URL that begins with 'https:'",
      { issuer: 'http://x.example' },
    ],
    ["'redirectUri' of 'company' must be a URL", { redirectUri: 'http://x.example/back' }],
    ["'clientSecret' must be a string", { clientSecret: '' }],
    ["'scopes' must be a list of strings", { scopes: 'email' }],
    ["'returnTo' must list pages", { returnTo: [] }],
    ["'returnTo' must list pages", { returnTo: ['https://example.com/#in'] }],
    ["'returnTo' must list pages", { returnTo: ['http://example.com/in'] }],
    ["'returnTo' must list pages", { returnTo: ['//example.com'] }],
    ["'returnTo' must list pages", { returnTo: ['/\\example.com'] }],
    ["'returnTo' must list pages", { returnTo: ['javascript:alert(1)'] }],
    ["'returnTo' must list pages", { returnTo: ['https://example.com/in\r\nx: y'] }],
    ["'maxAge' must be seconds, and at least 1", { maxAge: 0 }],
    ["'parameters' must have strings", { parameters: { prompt: ['login'] } }],
    ["'parameters' must have strings", { parameters: 'prompt=login' }],
    ["'parameters' must have strings, and none of what", { parameters: { state: 'mine' } }],
    ["'parameters' must have strings, and none of what", { parameters: { redirect_uri: '/' } }],
    ["unknown option 'secret'.", { secret: 'x' }],
  ])('that make no sense are a start-up error: %s', (message, wrong) => {
    expect(() => oidc({ ...good, ...wrong } as OidcOptions)).toThrow(`oidc: ${message}`)
  })

  it.each(['/in', 'http://localhost:5173/in', 'com.example.app:/in', 'https://example.com/in?a=b'])(
    'take %s as a page to return to',
    (page) => {
      expect(() => oidc({ ...good, returnTo: [page] })).not.toThrow()
    },
  )

  it('add parameters to the address that browsers are sent to', async () => {
    const app = await company({}, { parameters: { prompt: 'select_account', hd: 'example.com' } })
    const { searchParams } = await app.visitor.begin('company')
    const named = ['prompt', 'hd', 'response_type', 'max_age'].map((name) => searchParams.get(name))
    expect(named).toEqual(['select_account', 'example.com', 'code', null])
  })

  it('take only people who have signed in at the provider within `maxAge`', async () => {
    const app = await company({}, { maxAge: 300 })
    const { searchParams } = await app.visitor.begin('company')
    expect(searchParams.get('max_age')).toBe('300')
    const ago = (seconds: number) => ({ auth_time: Math.floor(app.now() / 1000) - seconds })
    expect(await app.brought(ago(290))).not.toContain('error')
    for (const claims of [ago(320), {}, { auth_time: 'now' }, { auth_time: -1 }]) {
      expect(await app.brought(claims)).toBe('error: sign_in_failed')
    }
  })

  it('name each provider once', async () => {
    await expect(company({}, {}, [good])).rejects.toThrow(
      "Auth: 'methods' has 'oidc company' twice",
    )
  })

  it('add three routes, however many providers there are', async () => {
    const app = await company({}, {}, [{ ...good, name: 'other' }])
    const urls = app.auth.router.urls.filter(({ path }) => path.includes('oidc'))
    expect(urls.map(({ name, method, path }) => [name, method, path])).toEqual([
      ['beginOidc', 'GET', '/login/oidc/:name'],
      ['finishOidc', 'GET', '/login/oidc/:name/callback'],
      ['oidcLogin', 'POST', '/login/oidc'],
    ])
    const { paths } = document(app.app, { title: 'Atlas', version: '1' })
    const begins = paths['/auth/login/oidc/{name}']?.get as Operation
    expect(Object.keys(begins.responses)).toEqual(
      expect.arrayContaining(['302', '400', '404', '503']),
    )
    expect(begins.parameters.map(({ name }) => name)).toEqual(['name', 'returnTo', 'challenge'])
    const signsIn = paths['/auth/login/oidc']?.post as Operation
    expect(signsIn.requestBody).toBeDefined()
    const login = paths['/auth/login']?.post as Operation
    expect(signsIn.responses['200']).toEqual(login.responses['200'])
    const row = audit(app.app).find(({ path }) => path === '/auth/login/oidc')
    expect(row?.read).toContain('email')
  })
})
