/**
 * The ways through all methods, on any store: what must be right in one conditional write is asked for at once.
 *
 * @module
 */

import { Secret, TOTP } from 'otpauth'
import { oidc } from '../../../adapters/methods/oidc/index.ts'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { createRouter, defineModel, type Fields, type Store } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { password } from '../accounts.ts'
import { parallel, service, statuses } from '../service.ts'
import { Authenticator } from './authenticator.ts'
import { startIssuer } from './issuer.ts'
import { Visitor } from './visitor.ts'

/** What the journey saw; the same on every store. */
export const EXPECTED = {
  keys: { 201: 3, 409: 5 },
  used: 200,
  codes: { 200: 1, 401: 4 },
  totp: { 200: 1, 401: 4 },
  recovery: { 200: 1, 401: 4 },
  passkey: [201, 200, 401, 200],
  ended: [200, 401],
  takenOver: [200, 401, 0],
  oidc: [{ 200: 1, 401: 4 }, { 200: 5 }, 1],
}

/** Goes the way on `store`. */
export async function journey(store: Store): Promise<typeof EXPECTED> {
  let clock = () => Date.now()
  const issuer = await startIssuer(() => clock())
  const passkey = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
  const methods = [
    apiKeys({ maxPerUser: 3 }),
    totp({ issuer: 'Atlas' }),
    emailCode(),
    passkeys(passkey),
    oidc({ name: 'company', issuer: issuer.url, clientId: 'atlas', returnTo: ['/in'] }),
  ]
  const app = await service({ store, auth: { methods, lockout: { maxAttempts: 50 } } })
  clock = app.now
  const Thing = defineModel('Thing', { fields: {} })
  app.app.mount('/things', createRouter({ model: Thing, middlewares: [app.auth.requireAuth] }))
  const email = 'ann@example.com'
  const { token } = await app.register(email)
  const list = async (bearer: string) =>
    (await app.call('GET', '/things', undefined, bearer)).status
  const allow = [{ mount: '/things', actions: ['list'] }]
  const makeKey = (bearer: string) => app.post('/auth/keys', { name: 'CI', allow }, bearer)

  // Keys: so many and no more.
  const made = await parallel(8, () => makeKey(token))
  const key: string = made.find(({ status }) => status === 201)?.body.data.key
  const used = await list(key)

  // A code, once, of all who send it; it takes the account over.
  const code = async () => {
    await app.post('/auth/login/code', { identifier: email })
    return app.sent.at(-1)?.code
  }
  const otp = await code()
  const coded = await parallel(5, () => app.post('/auth/login', { identifier: email, otp }))
  const owner: string = coded.find(({ status }) => status === 200)?.body.data.token
  const takenOver = [
    await list(owner),
    await list(key),
    (await app.call('GET', '/auth/keys', undefined, owner)).body.data.length,
  ]

  // A passkey, whose count must be higher each time.
  const device = new Authenticator('https://example.com', 1)
  const begun = (await app.post('/auth/passkeys/options', {}, owner)).body.data
  const credential = await device.create(begun.publicKey)
  const registered = await app.post('/auth/passkeys', { ticket: begun.ticket, credential }, owner)
  const signIn = async (counter?: number) => {
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    const twist = counter === undefined ? {} : { counter }
    return app.post('/auth/login/passkey', {
      ticket,
      credential: await device.get(publicKey, twist),
    })
  }
  const strong = await signIn()
  const passkeyStatuses = [
    registered.status,
    strong.status,
    (await signIn(1)).status,
    (await signIn()).status,
  ]

  // A second factor: one step, and one recovery code, once.
  const bearer: string = strong.body.data.token
  const { secret, ticket } = (await app.post('/auth/totp', {}, bearer)).body.data
  const authenticator = new TOTP({ secret: Secret.fromBase32(secret) })
  const now = () => authenticator.generate({ timestamp: app.now() })
  const confirmed = await app.post('/auth/totp/confirm', { ticket, code: now() }, bearer)
  app.later(30)
  await app.post('/auth/password/forgot', { identifier: email })
  const reset = { identifier: email, code: app.sent.at(-1)?.code, newPassword: password }
  await app.post('/auth/password/reset', reset)
  const both = async (answer: Fields) => {
    const tickets: string[] = []
    for (let asked = 0; asked < 5; asked += 1) {
      tickets.push((await app.post('/auth/login', { identifier: email, password })).body.ticket)
    }
    return parallel(5, (at) => app.post('/auth/login', { ticket: tickets[at], ...answer }))
  }
  const [recoveryCode] = confirmed.body.data.recoveryCodes
  const totpAnswers = statuses(await both({ totp: now() }))
  const recovered = await both({ recoveryCode })
  const last: string = recovered.find(({ status }) => status === 200)?.body.data.token
  const own = (await makeKey(last)).body.data
  const ended = [await list(own.key)]
  await app.call('DELETE', `/auth/keys/${own.id}`, undefined, last)
  ended.push(await list(own.key))
  // A provider's code, once; and one account of a person who comes several times at once.
  const visitor = new Visitor(app.app)
  const brought = async () => {
    const asked = await visitor.begin('company', '/in')
    issuer.say = { claims: { nonce: asked.searchParams.get('nonce'), sub: 'bob' } }
    return (await visitor.answer(asked, { code: 'c' })).get('code')
  }
  const codes: (string | null)[] = []
  for (let each = 0; each < 6; each += 1) codes.push(await brought())
  const firsts = await parallel(5, (at) => app.post('/auth/login/oidc', { code: codes[at + 1] }))
  const again = await parallel(5, () => app.post('/auth/login/oidc', { code: codes[0] }))
  const people = new Set([...firsts, ...again].flatMap(({ body }) => body.data?.user._id ?? []))
  return {
    oidc: [statuses(again), statuses(firsts), people.size] as typeof EXPECTED.oidc,
    ...{ keys: statuses(made) as typeof EXPECTED.keys, used, takenOver, ended },
    codes: statuses(coded) as typeof EXPECTED.codes,
    totp: totpAnswers as typeof EXPECTED.totp,
    recovery: statuses(recovered) as typeof EXPECTED.recovery,
    passkey: passkeyStatuses,
  }
}
