import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'

const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
const path = '/.well-known/webauthn'

it('passkeys work at related origins, which browsers find at a well-known address', async () => {
  const relatedOrigins = ['https://example.co.uk']
  const app = await service({ auth: { methods: [passkeys({ ...options, relatedOrigins })] } })
  const found = await app.call('GET', path)
  expect(found.status).toBe(200)
  expect(found.headers.get('content-type')).toMatch(/^application\/json/)
  expect(found.body).toEqual({ origins: ['https://example.com', 'https://example.co.uk'] })
  const { token } = await app.register('ann@example.com')
  const register = async (origin: string) => {
    const { publicKey, ticket } = (await app.post('/auth/passkeys/options', {}, token)).body.data
    const credential = await new Authenticator(origin).create(publicKey)
    return (await app.post('/auth/passkeys', { ticket, credential }, token)).status
  }
  expect(await register('https://example.org')).toBe(400)
  expect(await register('https://example.co.uk')).toBe(201)
})

it('without related origins nothing is there', async () => {
  const app = await service({ auth: { methods: [passkeys(options)] } })
  expect((await app.call('GET', path)).status).toBe(404)
})

it.each([['example.co.uk'], ['https://example.co.uk/'], [1]])(
  'a related origin that is none is a start-up error: %s',
  (origin) => {
    const wrong = { ...options, relatedOrigins: [origin as string] }
    expect(() => passkeys(wrong)).toThrow("passkeys: 'relatedOrigins' must list origins")
  },
)
