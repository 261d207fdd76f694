import { Secret, TOTP } from 'otpauth'
import { describe, expect, it } from 'vitest'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { magicLink } from '../../../examples/magic-link/magic-link.ts'
import { createRouter, defineModel } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { password } from '../accounts.ts'
import { type Service, service } from '../service.ts'
import { Authenticator } from './authenticator.ts'
import { startIssuer } from './issuer.ts'
import { email, vouched } from './oidc-world.ts'
import { Visitor } from './visitor.ts'

const before = 'the secret of last year, 32 characters or more'
const after = 'quite another one, to be used from now on'
const passkey = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
const Task = defineModel('ReplacedSecretsTask', { fields: {} })

/** Two instances in the middle of a deployment, which know both secrets, and a user who is signed in. */
async function instances(first: string, second: string) {
  const store = sqliteStore()
  const issuer = await startIssuer(() => Date.UTC(2030, 0, 1))
  const company = { name: 'company', issuer: issuer.url, clientId: 'atlas', returnTo: ['/in'] }
  const start = async (...secret: readonly string[]) => {
    const keys = [passkeys(passkey), totp({ issuer: 'Atlas' }), apiKeys()]
    const methods = [...keys, emailCode(), magicLink(), oidc(company)]
    const at = await service({ store, auth: { token: { secret }, methods } })
    at.app.mount('/tasks', createRouter({ model: Task, middlewares: [at.auth.requireAuth] }))
    return at
  }
  const [one, other] = [await start(first, second), await start(second, first)]
  const { token } = await one.register(email)
  return { one, other, issuer, token }
}

async function registered(at: Service, there: Service, token: string) {
  const key = new Authenticator()
  const { publicKey, ticket } = (await at.post('/auth/passkeys/options', {}, token)).body.data
  const credential = await key.create(publicKey)
  const { status } = await there.post('/auth/passkeys', { ticket, credential }, token)
  expect(status).toBe(201)
  return key
}

async function signedIn(at: Service, there: Service, key: Authenticator): Promise<string> {
  const { publicKey, ticket } = (await at.post('/auth/login/passkey/options')).body.data
  const shown = { ticket, credential: await key.get(publicKey) }
  const { status, body } = await there.post('/auth/login/passkey', shown)
  expect(status).toBe(200)
  return body.data.token
}

const ticketOf = async ({ post }: Service) =>
  (await post('/auth/login', { identifier: email, password })).body.ticket

describe.each([
  ['the old', before, after],
  ['the new', after, before],
])('What an instance has begun that signs with %s secret ends at another one', (_, ...secrets) => {
  it('for passkeys and second steps', async () => {
    const { one, other, token } = await instances(...secrets)
    const key = await registered(one, other, token)
    const strong = await signedIn(one, other, key)
    const { secret, ticket } = (await one.post('/auth/totp', {}, strong)).body.data
    const authenticator = new TOTP({ secret: Secret.fromBase32(secret) })
    const code = () => authenticator.generate({ timestamp: one.now() })
    const set = await other.post('/auth/totp/confirm', { ticket, code: code() }, strong)
    const [recoveryCode] = set.body.data.recoveryCodes
    for (const at of [one, other]) at.later(30)
    for (const answer of [{ totp: code() }, { recoveryCode }]) {
      const step = { ticket: await ticketOf(one), ...answer }
      expect((await other.post('/auth/login', step)).status).toBe(200)
    }
    const asked = { ticket: await ticketOf(one) }
    const { publicKey } = (await one.post('/auth/login/passkey/options', asked)).body.data
    const step = { ...asked, passkey: await key.get(publicKey) }
    expect((await other.post('/auth/login', step)).status).toBe(200)
  })

  it('for mailed codes, links and keys', async () => {
    const { one, other, token } = await instances(...secrets)
    for (const [path, member] of [
      ['/auth/login/code', 'otp'],
      ['/auth/login/link', 'link'],
    ] as const) {
      await one.post(path, { identifier: email })
      const body = { [member]: one.sent.at(-1)?.code }
      expect([path, (await other.post('/auth/login/confirm', body, token)).status]).toEqual([
        path,
        200,
      ])
    }
    const allow = [{ mount: '/tasks', actions: ['list'] }]
    const { key } = (await one.post('/auth/keys', { name: 'CI', allow }, token)).body.data
    expect((await other.call('GET', '/tasks', undefined, key)).status).toBe(200)
  })

  it('for sign-ins at a provider', async () => {
    const { one, other, issuer } = await instances(...secrets)
    const [at, there] = [new Visitor(one.app), new Visitor(other.app)]
    const asked = await at.begin('company', '/in')
    for (const [name, value] of at.cookies) there.cookies.set(name, value)
    issuer.say = { claims: { ...vouched, nonce: asked.searchParams.get('nonce') } }
    const code = (await there.answer(asked, { code: 'c' })).get('code')
    expect((await one.post('/auth/login/oidc', { code })).status).toBe(200)
  })
})
