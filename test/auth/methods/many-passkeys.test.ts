import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'

const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }

it('a user has a hundred passkeys at most, so that each is in the list and can be removed', async () => {
  const app = await service({ auth: { methods: [passkeys(options)] } })
  let { token } = await app.register('ann@example.com')
  const first = new Authenticator()
  const begin = async () => (await app.post('/auth/passkeys/options', {}, token)).body
  const register = async (
    { publicKey, ticket }: Awaited<ReturnType<typeof begin>>['data'],
    key = new Authenticator(),
  ) => {
    const credential = await key.create(publicKey)
    return (await app.post('/auth/passkeys', { ticket, credential }, token)).status
  }
  expect(await register((await begin()).data, first)).toBe(201)
  const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
  const shown = { ticket, credential: await first.get(publicKey) }
  token = (await app.post('/auth/login/passkey', shown)).body.data.token
  const early = (await begin()).data
  for (let more = 0; more < 99; more += 1) expect(await register((await begin()).data)).toBe(201)
  expect((await begin()).error).toBe('You have too many passkeys. Remove one first.')
  expect(await register(early)).toBe(409)
  const { data: all } = (await app.call('GET', '/auth/passkeys', undefined, token)).body
  expect(all).toHaveLength(100)
  await app.call('DELETE', `/auth/passkeys/${all[0].id}`, undefined, token)
  expect(await register(early)).toBe(201)
})
