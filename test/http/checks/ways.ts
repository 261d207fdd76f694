import assert from 'node:assert/strict'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { Authenticator } from '../../auth/methods/authenticator.ts'
import { type Checks, ok, refused } from '../check.ts'

const ann = { email: 'ann@example.com', password: 'correct horse battery' }
const bearer = (token: string | undefined) => ({ headers: { Authorization: `Bearer ${token}` } })
const key = new Authenticator('https://example.com', 1)

/** Methods: keys, passkeys, authenticator apps, OpenID providers. */
export const ways: Checks = {
  'a key does what it may, and no more': async ({ ask }, { tokens }) => {
    const { token } = ok(await ask('POST', '/ways/register', { json: ann }), 201).body.data
    tokens.set('wayfarer', token)
    const json = { name: 'CI', allow: [{ mount: '/errands', actions: ['list'] }] }
    const made = ok(await ask('POST', '/ways/keys', { json, ...bearer(token) }), 201).body.data
    ok(await ask('GET', '/errands', bearer(made.key)))
    const beyond = await ask('POST', '/errands', { json: {}, ...bearer(made.key) })
    refused(beyond, 403, 'You do not have access to this resource.')
    ok(await ask('DELETE', `/ways/keys/${made.id}`, bearer(token)))
    refused(await ask('GET', '/errands', bearer(made.key)), 401, 'Invalid or expired token.')
  },
  'a passkey signs in, once for each ticket': async ({ ask }, { tokens }) => {
    const own = bearer(tokens.get('wayfarer'))
    const begun = ok(await ask('POST', '/ways/passkeys/options', own)).body.data
    const { ticket } = begun
    const json = { ticket, credential: await key.create(begun.publicKey), name: 'Laptop' }
    ok(await ask('POST', '/ways/passkeys', { json, ...own }), 201)
    const asked = ok(await ask('POST', '/ways/login/passkey/options')).body.data
    const signed = { ticket: asked.ticket, credential: await key.get(asked.publicKey) }
    const { user, token } = ok(await ask('POST', '/ways/login/passkey', { json: signed })).body.data
    assert.equal(user.email, ann.email)
    tokens.set('wayfarer', token)
    refused(await ask('POST', '/ways/login/passkey', { json: signed }), 401, 'Invalid credentials.')
  },
  'an authenticator app is asked for, and recovery codes replace it once': async (
    { ask },
    { tokens },
  ) => {
    const own = bearer(tokens.get('wayfarer'))
    const { secret, ticket } = ok(await ask('POST', '/ways/totp', own)).body.data
    const code = await codeAt(secret, Math.floor(Date.now() / 30_000))
    const confirmed = await ask('POST', '/ways/totp/confirm', { json: { ticket, code }, ...own })
    const [recoveryCode] = ok(confirmed).body.data.recoveryCodes
    const credentials = { identifier: ann.email, password: ann.password }
    const first = await ask('POST', '/ways/login', { json: credentials })
    refused(first, 401, 'A second step is needed to sign in.')
    assert.deepEqual(first.body.secondStep, ['totp', 'recovery-code', 'passkey'])
    const answer = { ticket: first.body.ticket, recoveryCode }
    ok(await ask('POST', '/ways/login', { json: answer }))
    const again = await ask('POST', '/ways/login', { json: credentials })
    const used = { ticket: again.body.ticket, recoveryCode }
    refused(await ask('POST', '/ways/login', { json: used }), 401, 'Invalid credentials.')
  },
  'an OpenID provider signs a new person in': async ({ ask }) => {
    const begin = '/ways/login/oidc/company'
    const begun = ok(await ask('GET', `${begin}?returnTo=/in`), 302)
    const to = new URL(begun.headers.get('location') ?? '').searchParams
    assert.equal(to.get('code_challenge_method'), 'S256')
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';')
    const code = to.get('nonce') ?? ''
    const back = `${begin}/callback?${new URLSearchParams({ code, state: to.get('state') ?? '' })}`
    refused(await ask('GET', back), 401, 'This sign-in has expired. Start again.')
    const done = ok(await ask('GET', back, { headers: { Cookie: cookie } }), 302)
    const [page, outcome] = (done.headers.get('location') ?? '').split('#')
    assert.equal(page, '/in')
    const json = { code: new URLSearchParams(outcome).get('code') }
    const { user } = ok(await ask('POST', '/ways/login/oidc', { json })).body.data
    assert.equal(user.email, 'bob@example.com')
    refused(await ask('POST', '/ways/login/oidc', { json }), 401, 'Invalid credentials.')
    const eight = Array.from({ length: 8 }, (_, at) => `__Host-oidc-${at}=x`).join('; ')
    const ninth = await ask('GET', `${begin}?returnTo=/in`, { headers: { Cookie: eight } })
    const [kept, ended, ...others] = ok(ninth, 302).headers.getSetCookie()
    assert.match(kept ?? '', /^__Host-oidc-[\w-]{8}=.*; Max-Age=900$/)
    assert.match(ended ?? '', /^__Host-oidc-0=;.*; Max-Age=0$/)
    assert.deepEqual(others, [])
    const elsewhere = await ask('GET', `${begin}?returnTo=https://evil.example`)
    refused(elsewhere, 400, "'returnTo' must be one of the pages that this app returns to.")
  },
}
