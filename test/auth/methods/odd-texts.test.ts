/** What clients may send of a passkey or a key besides its secret. */

import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'

const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
const HALF = 'a\ud800b'

/** A user with a passkey whose credential said `more` in its response, and the session of a sign-in by it. */
async function keyed(more: object = {}) {
  const app = await service({ auth: { methods: [passkeys(options), apiKeys()] } })
  const { token } = await app.register('ann@example.com')
  const key = new Authenticator()
  const begin = async (bearer: string) =>
    (await app.post('/auth/passkeys/options', {}, bearer)).body.data
  const { publicKey, ticket } = await begin(token)
  const created = (await key.create(publicKey)) as { response: object }
  const credential = { ...created, response: { ...created.response, ...more } }
  const made = await app.post('/auth/passkeys', { ticket, credential }, token)
  const asked = (await app.post('/auth/login/passkey/options')).body.data
  const shown = { ticket: asked.ticket, credential: await key.get(asked.publicKey) }
  const session = (await app.post('/auth/login/passkey', shown)).body.data?.token
  return { ...app, made, session, begin }
}

it('a name with half a character is a 400, as it is in a record', async () => {
  const { made, session, call, post } = await keyed()
  const path = `/auth/passkeys/${made.body.data.id}`
  const allow = [{ mount: '*', actions: ['list'] }]
  for (const { status, body } of [
    await call('PATCH', path, { name: HALF }, session),
    await post('/auth/keys', { name: HALF, allow }, session),
  ]) {
    expect([status, body.fields]).toEqual([400, { name: 'Invalid Unicode text.' }])
  }
})

it('of the transports of a passkey, those are kept that read as some', async () => {
  const transports = ['usb', HALF, 'x'.repeat(100_000), 7, null, { usb: true }, 'smart-card']
  const { made, session, begin } = await keyed({ transports })
  expect(made.status).toBe(201)
  const { publicKey } = await begin(session)
  expect(publicKey.excludeCredentials).toMatchObject([{ transports: ['usb', 'smart-card'] }])
  expect((await keyed({ transports: 'usb' })).made.status).toBe(400)
})
