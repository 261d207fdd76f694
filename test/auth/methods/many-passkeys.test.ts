import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { watched } from '../../records/watched.ts'
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

it('an id that no passkey can have is a 404, and the store is asked for no record', async () => {
  const store = watched(sqliteStore())
  const asked = () =>
    store.calls
      .filter(({ name }) => name.includes('passkey') && name.endsWith('.update'))
      .map(({ argument }) => JSON.stringify(argument))
  const app = await service({ store, auth: { methods: [passkeys(options)] } })
  const { token } = await app.register('ann@example.com')
  const tried = async (id: string) => [
    (await app.call('PATCH', `/auth/passkeys/${id}`, { name: 'a' }, token)).status,
    (await app.call('DELETE', `/auth/passkeys/${id}`, undefined, token)).status,
  ]
  for (const id of ['a', '1'.repeat(23), '1'.repeat(25), 'A'.repeat(24), 'twelve bytes'])
    expect([id, await tried(encodeURIComponent(id))]).toEqual([id, [404, 404]])
  expect(new Set(asked())).toEqual(new Set([JSON.stringify({ op: 'or', filters: [] })]))
  expect(await tried('1'.repeat(24))).toEqual([404, 404])
  expect(asked().at(-1)).toContain('1'.repeat(24))
})
