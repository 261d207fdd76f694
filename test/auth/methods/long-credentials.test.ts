import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { processorClock } from '../../limits/processor-time.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'

const options = { rpId: 'example.com', rpName: 'Atlas', origins: ['https://example.com'] }
/** What a device says besides: that the user was verified. */
const usual = Buffer.from([0xa1, 0x63, ...Buffer.from('uvm'), 0xf5])
/** As many empty texts as fit into a body. Taking them apart took seconds. */
const long = Buffer.concat([Buffer.from([0x9a, 0, 10, 0, 0]), Buffer.alloc(10 * 65_536, 0x60)])
const SOON_MS = 1000

async function keyed() {
  const app = await service({ auth: { methods: [passkeys(options), totp({ issuer: 'Atlas' })] } })
  const { token } = await app.register('ann@example.com')
  const key = new Authenticator()
  const registered = async (extensions: Uint8Array) => {
    const { publicKey, ticket } = (await app.post('/auth/passkeys/options', {}, token)).body.data
    const credential = await key.create(publicKey, { extensions })
    return async () => (await app.post('/auth/passkeys', { ticket, credential }, token)).status
  }
  const signedIn = async (extensions: Uint8Array, by = key) => {
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    const credential = await by.get(publicKey, { extensions })
    return async () => (await app.post('/auth/login/passkey', { ticket, credential })).status
  }
  return { registered, signedIn }
}

async function timed(ask: () => Promise<number>): Promise<number> {
  const passed = processorClock()
  const status = await ask()
  expect(passed()).toBeLessThan(SOON_MS)
  return status
}

it('a passkey that says more than any device does is not registered', async () => {
  const { registered } = await keyed()
  expect(await timed(await registered(long))).toBe(400)
  expect(await timed(await registered(usual))).toBe(201)
})

it('nor does what it says at a sign-in keep the server busy, whoever sends it', async () => {
  const { registered, signedIn } = await keyed()
  expect(await timed(await signedIn(long, new Authenticator()))).toBe(401)
  await (await registered(usual))()
  expect(await timed(await signedIn(long))).toBe(401)
  expect(await timed(await signedIn(usual))).toBe(200)
})
