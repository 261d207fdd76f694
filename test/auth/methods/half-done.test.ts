/** Requests whose database fails half-way: what clients and owners are told, and what a repetition puts right. */

import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { HttpError, type SecurityEvent } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { CollectionSchema } from '../../../src/ports/store/store.ts'
import { Faults, type Kind } from '../../faults/steps/faults.ts'
import { password } from '../accounts.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'

const email = 'ann@example.com'
const allow = [{ mount: '*', actions: ['list'] }]
const credentials = { identifier: email, password }

/** An app, a user who is signed in, and what fails the first call with a name while a request is under way. */
async function faulty({ auth = {}, app: more = {} }: { auth?: object; app?: object } = {}) {
  const faults = new Faults()
  const events: string[] = []
  const store = sqliteStore()
  const schemas = new Map<string, CollectionSchema>()
  const methods = [
    passkeys({ rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }),
    totp({ issuer: 'Atlas' }),
    apiKeys(),
  ]
  const app = await service({
    store: faults.aroundStore(store, (schema) => schemas.set(schema.name, schema)),
    app: more,
    auth: {
      methods,
      routes: { deleteUser: true },
      updateFields: ['email'],
      onSecurityEvent: ({ type }: SecurityEvent) => events.push(type),
      ...auth,
    },
  })
  const ann = await app.register(email)
  const failing = async <T>(call: string, kind: Kind, send: () => Promise<T>): Promise<T> => {
    faults.armAt(call, kind)
    const answer = await send()
    faults.release()
    faults.disarm()
    return answer
  }
  const count = (name: string) =>
    store.collection(schemas.get(name) as CollectionSchema).count(everything)
  const registered = async (key: Authenticator, token = ann.token) => {
    const { publicKey, ticket } = (await app.post('/auth/passkeys/options', {}, token)).body.data
    const credential = await key.create(publicKey)
    await app.post('/auth/passkeys', { ticket, credential }, token)
  }
  const asserted = async (key: Authenticator) => {
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    return { ticket, credential: await key.get(publicKey) }
  }
  return { ...app, ann, events, failing, count, registered, asserted }
}

it('an account is deleted although what methods keep of it cannot be removed, and an admin removes that later', async () => {
  const app = await faulty()
  const admin = await app.admin()
  await app.post('/auth/keys', { name: 'CI', allow }, app.ann.token)
  const remove = () => app.call('DELETE', `/auth/users/${app.ann.user._id}`, {}, admin.token)
  const answer = await app.failing('userapikeys.delete', 'refused', remove)
  expect([answer.status, answer.body.message]).toEqual([200, 'Account deleted.'])
  expect(app.events).toContain('account-deleted')
  expect(app.log.join()).toContain('what a method keeps of a deleted account could not be removed')
  expect(await app.count('userapikeys')).toBe(1)
  expect((await remove()).status).toBe(404)
  expect(await app.count('userapikeys')).toBe(0)
})

it('a second step by a passkey that is sent again tells of no copy of the key', async () => {
  const app = await faulty()
  const key = new Authenticator('https://example.com', 5)
  await app.registered(key)
  const { token } = (await app.post('/auth/login/passkey', await app.asserted(key))).body.data
  const begun = (await app.post('/auth/totp', {}, token)).body.data
  const code = await codeAt(begun.secret, Math.floor(app.now() / 30_000))
  await app.post('/auth/totp/confirm', { ticket: begun.ticket, code }, token)
  const { ticket } = (await app.post('/auth/login', credentials)).body
  const { publicKey } = (await app.post('/auth/login/passkey/options', { ticket })).body.data
  const body = { ticket, passkey: await key.get(publicKey) }
  const send = () => app.post('/auth/login', body)
  expect((await app.failing('userpasskeys.update', 'lost', send)).status).toBe(503)
  expect((await send()).status).toBe(401)
  expect(app.events).not.toContain('passkey-cloned')
})

it('a passkey signs in although tickets that have expired cannot be removed', async () => {
  const app = await faulty()
  const key = new Authenticator()
  await app.registered(key)
  const body = await app.asserted(key)
  const send = () => app.post('/auth/login/passkey', body)
  expect((await app.failing('fieldgate_used_tokens.delete', 'refused', send)).status).toBe(200)
})

it('a key is not made after its request has run out of time', async () => {
  const app = await faulty({ app: { requestTimeoutMs: 300 } })
  const send = () => app.post('/auth/keys', { name: 'CI', allow }, app.ann.token)
  expect((await app.failing('userpasskeys.find', 'late', send)).status).toBe(503)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect((await app.call('GET', '/auth/keys', undefined, app.ann.token)).body.data).toEqual([])
})

it('the old address is told of a change, wherever the request fails', async () => {
  let status = 503
  for (let at = 1; status === 503; at += 1) {
    const mails: object[] = []
    const app = await faulty({ auth: { mail: { sender: (mail: object) => mails.push(mail) } } })
    const body = { email: 'next@example.com', currentPassword: password }
    const send = () => app.call('PATCH', `/auth/users/${app.ann.user._id}`, body, app.ann.token)
    status = (await app.failing(`users.find ${at}`, 'refused', send)).status
    const isChanged = (await app.stored(app.ann.user._id)).email === body.email
    expect(mails).toMatchObject(isChanged ? [{ to: email, purpose: 'identifierChanged' }] : [])
    expect(app.events.includes('identifier-changed')).toBe(isChanged)
  }
})

it('a mailed code is good for the next try after a failure of the database', async () => {
  const app = await faulty({ auth: { methods: [emailCode({ signUp: true })] } })
  for (const identifier of [email, 'new@example.com']) {
    await app.post('/auth/login/code', { identifier })
    const body = { identifier, otp: app.sent.at(-1)?.code }
    const send = () => app.post('/auth/login', body)
    const call = identifier === email ? 'users.update' : 'users.insert'
    expect((await app.failing(call, 'refused', send)).status).toBe(503)
    expect((await send()).status).toBe(200)
    expect((await send()).status).toBe(401)
  }
})

it('the log names an account that onRegister refuses, and that cannot be removed', async () => {
  const onRegister = (user: { email?: string }) => {
    if (user.email !== email) throw new HttpError(403, 'Not you.')
  }
  const app = await faulty({ auth: { onRegister } })
  const send = () => app.post('/auth/register', { email: 'bob@example.com', password })
  expect((await app.failing('users.delete', 'refused', send)).status).toBe(503)
  const [{ _id } = { _id: '' }] = await app.users.find({ email: 'bob@example.com' })
  const told = app.log.find((line) => line.includes('whose sign-up failed could not be removed'))
  expect(told).toContain(`"userId":"${_id}"`)
})
