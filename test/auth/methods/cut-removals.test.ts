import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'
import { cutStore } from './cut-store.ts'
import { credentials, email, factored } from './factored.ts'

it('the removal of an authenticator app that is cut off leaves it as it was, and can be done again', async () => {
  const { store, cut } = cutStore()
  const app = await factored({ store })
  const { secret } = await app.enrol()
  const token = await app.strong(secret)
  const remove = () => app.call('DELETE', '/auth/totp', undefined, token)
  cut(true)
  expect((await remove()).status).toBe(503)
  cut(false)
  expect((await app.post('/auth/login', credentials)).body.secondStep).toContain('totp')
  app.later(30)
  expect((await app.answer({ totp: app.codeOf(secret) })).status).toBe(200)
  expect((await remove()).status).toBe(200)
  const { data } = (await app.post('/auth/login', credentials)).body
  expect((await app.enrol(data.token)).answer.status).toBe(200)
})

it('the removal of a passkey that is cut off does too', async () => {
  const { store, cut } = cutStore()
  const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
  const app = await service({ store, auth: { methods: [passkeys(options)] } })
  const ann = await app.register(email)
  const key = new Authenticator()
  const begun = (await app.post('/auth/passkeys/options', {}, ann.token)).body.data
  const credential = await key.create(begun.publicKey, {})
  const made = await app.post('/auth/passkeys', { ticket: begun.ticket, credential }, ann.token)
  const signIn = async () => {
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    return app.post('/auth/login/passkey', { ticket, credential: await key.get(publicKey, {}) })
  }
  const { token } = (await signIn()).body.data
  const remove = () => app.call('DELETE', `/auth/passkeys/${made.body.data.id}`, undefined, token)
  cut(true)
  expect((await remove()).status).toBe(503)
  cut(false)
  expect((await app.call('GET', '/auth/passkeys', undefined, token)).body.data).toHaveLength(1)
  expect((await signIn()).status).toBe(200)
  expect((await remove()).status).toBe(200)
  expect((await signIn()).status).toBe(401)
})
