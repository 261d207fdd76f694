import { expect, it } from 'vitest'
import { passkeys } from '../../../adapters/methods/passkeys/index.ts'
import { emailCode } from '../../../src/methods/email-code/index.ts'
import { service } from '../service.ts'
import { Authenticator } from './authenticator.ts'

const keys = passkeys({
  rpId: 'example.com',
  rpName: 'Atlas',
  origins: ['https://example.com'],
})
const email = 'ann@example.com'

it.each([
  ['a code that resets', { methods: [keys] }],
  [
    'a code that signs in',
    { methods: [keys, emailCode()], routes: { forgotPassword: false, resetPassword: false } },
  ],
])(
  '%s is a way in for who has proven the address: the last passkey can be removed',
  async (_, auth) => {
    const app = await service({ auth: auth as never })
    const { token, user } = await app.register(email)
    const begun = (await app.post('/auth/passkeys/options', {}, token)).body.data
    const key = new Authenticator()
    const made = { ticket: begun.ticket, credential: await key.create(begun.publicKey) }
    const { id } = (await app.post('/auth/passkeys', made, token)).body.data
    await app.users.update(user._id, { password: undefined })
    const { publicKey, ticket } = (await app.post('/auth/login/passkey/options')).body.data
    const shown = { ticket, credential: await key.get(publicKey) }
    const session = (await app.post('/auth/login/passkey', shown)).body.data.token
    const remove = () => app.call('DELETE', `/auth/passkeys/${id}`, undefined, session)
    // No code reaches those who have mistyped their address.
    expect((await remove()).status).toBe(409)
    await app.users.update(user._id, { provenEmail: email })
    expect((await remove()).status).toBe(200)
  },
)
