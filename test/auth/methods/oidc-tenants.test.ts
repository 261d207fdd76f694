import { expect, it } from 'vitest'
import { startIssuer } from './issuer.ts'
import { company, vouched } from './oidc-world.ts'

/** An app that signs in the people of all tenants, as at Microsoft's `common`. */
async function manyTenants(option = '/common/v2.0') {
  const at = await startIssuer()
  const many = { name: 'many', issuer: at.url + option, clientId: 'atlas' }
  const app = await company({}, {}, [{ ...many, returnTo: ['https://example.com/in'] }])
  at.say = { description: { issuer: `${at.url}/{tenantid}/v2.0` } }
  const now = Math.floor(app.now() / 1000)
  const of = (tenant: string) => `${at.url}/${tenant}/v2.0`
  /** A sign-in with an ID token of `iss`, which comes back with `by` as the one who answers. */
  const signInOf = (iss: unknown, by = of('a-1')) =>
    app.signIn({ ...vouched, iss, iat: now, exp: now + 60 }, { at, name: 'many', iss: by })
  return { ...app, at, of, signInOf }
}

it('signs in the people of all tenants, each of them as somebody else', async () => {
  const { signInOf, of } = await manyTenants()
  const [one, again, other] = [
    await signInOf(of('a-1')),
    await signInOf(of('a-1')),
    await signInOf(of('b_2'), of('b_2')),
  ]
  expect([one.status, again.status, other.status]).toEqual([200, 200, 200])
  expect(again.body.data.user).toEqual(one.body.data.user)
  expect(other.body.data.user._id).not.toBe(one.body.data.user._id)
})

it('takes no address from who runs a tenant', async () => {
  const app = await manyTenants()
  expect((await app.signInOf(app.of('a-1'))).body.data.user).not.toHaveProperty('email')
  await app.register(vouched.email)
  expect((await app.signInOf(app.of('new'), app.of('new'))).status).toBe(409)
})

it('refuses an issuer that is none of a tenant', async () => {
  const { signInOf, of, at, users } = await manyTenants()
  const others = ['https://evil.example/a/v2.0', of('a/b'), of(''), of('{tenantid}'), at.url]
  for (const iss of [...others, `${of('a')}/`, undefined, 7, [of('a')]])
    expect([iss, (await signInOf(iss)).status]).toEqual([iss, 401])
  const { length } = at.asked
  for (const by of others) expect([by, (await signInOf(of('a-1'), by)).status]).toEqual([by, 401])
  // No code was sent for these.
  expect(at.asked).toHaveLength(length)
  expect(await users.count()).toBe(0)
})

it.each(['/common', '/a/b/v2.0'])(
  'refuses a description of tenants that is not of this issuer: %s',
  async (option) => {
    const { app, at } = await manyTenants(option)
    const query = new URLSearchParams({ returnTo: 'https://example.com/in' })
    const begun = await app.handle(new Request(`https://x.example/auth/login/oidc/many?${query}`))
    expect([begun.status, at.asked]).toEqual([503, []])
  },
)
