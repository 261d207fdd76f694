import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import * as parts from '../../src/auth/index.ts'
import { accountsWith } from '../../src/auth/index.ts'
import type { AuthOptions } from '../../src/auth/setup/options.ts'
import { createApp, createAuthRouter } from '../../src/index.ts'

const token = { secret: 'a-secret-for-the-tests-of-parts-0123456789' }
const mail = { sender: () => {} }
const github = { clientId: 'id', clientSecret: 'secret' }

/** An option of each part. */
const OPTIONS: Readonly<Record<string, Partial<AuthOptions<never>>>> = {
  google: { social: { google: { clientId: 'id' } } },
  apple: { social: { apple: { clientId: 'id' } } },
  facebook: { social: { facebook: { appId: 'id', appSecret: 'secret' } } },
  github: { social: { github } },
  ownProviders: { social: { acme: { verify: () => undefined } } },
  sessions: { refresh: { enabled: true } },
  emailVerification: { emailVerification: { enabled: true }, mail },
  legacyTokens: { legacyTokens: { secret: 'the-secret-of-another-service-0123456789' } },
}

const { accountsWith: _, ...values } = parts
const named = Object.entries(values)

describe('accounts of parts', () => {
  it.each(named)('have what %s takes only with it', (name, part) => {
    const options = { token, ...OPTIONS[name] } as never
    const others = named.filter(([other]) => other !== name).map(([, other]) => other)
    expect(() => accountsWith(...others)(options)).toThrow(
      new RegExp(`^Auth: '.+' needs the part '${name}' in accountsWith`),
    )
    const urls = (auth: { readonly router: { readonly urls: readonly { name: string }[] } }) =>
      auth.router.urls.map((url) => url.name)
    const own = urls(accountsWith(part)(options))
    const all = urls(createAuthRouter(options))
    // Those of createAuthRouter has the route of providers even without one, as a 404 that says so.
    expect(all.filter((url) => !own.includes(url))).toEqual(
      own.includes('social') ? [] : ['social'],
    )
  })

  it('know an option that the environment sets', () => {
    const auth = accountsWith()({ token })
    const app = createApp({ store: sqliteStore(), env: { AUTH_REFRESH_ENABLED: 'true' } })
    expect(() => app.mount('/auth', auth.router)).toThrow("'refresh' needs the part 'sessions'")
  })

  it('sign up, sign in and refresh as those of createAuthRouter', async () => {
    const auth = accountsWith(parts.sessions)({ token, refresh: { enabled: true } })
    const app = createApp({ store: sqliteStore() }).mount('/auth', auth.router)
    const post = async (path: string, body: object) => {
      const response = await app.handle(
        new Request(`http://localhost/auth${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )
      return { status: response.status, body: await response.json() }
    }
    const credentials = { email: 'ann@example.com', password: 'correct horse battery' }
    expect(await post('/register', credentials)).toMatchObject({ status: 201 })
    const { body } = await post('/login', { ...credentials, identifier: credentials.email })
    const { refreshToken } = body.data
    expect(await post('/token/refresh', { refreshToken })).toMatchObject({ status: 200 })
    expect(await post('/social/github', { code: 'x' })).toMatchObject({ status: 404 })
    await app.close()
  })
})
