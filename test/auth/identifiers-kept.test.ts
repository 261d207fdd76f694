/** What docs/accounts.md says of the size of identifiers and of first proofs, as far as no other test here shows it. */

import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { defineModel } from '../../src/index.ts'
import { password, userModel } from './accounts.ts'
import { service } from './service.ts'

const email = 'ann@example.com'

describe('an identifier', () => {
  it('has at most 1,024 bytes; one byte more is a 400 before anything is looked up', async () => {
    const app = await service({ auth: { updateFields: ['email'] } })
    const address = (letter: string, bytes: number) =>
      `${letter.repeat((bytes - 4) / Buffer.byteLength(letter))}@b.c`
    const code = '000000'
    const sent = (identifier: string): readonly (readonly [string, object, number])[] => [
      ['register', { email: identifier, password }, 201],
      ['login', { identifier, password }, 200],
      ['login', { email: identifier, password: 'another one' }, 401],
      ['password/forgot', { identifier, channel: 'email' }, 200],
      ['password/reset', { identifier, code, newPassword: password }, 400],
    ]
    for (const letter of ['c', 'é']) {
      for (const [path, body, status] of sent(address(letter, 1024))) {
        const answer = await app.post(`/auth/${path}`, body)
        expect([path, answer.status]).toEqual([path, status])
        expect(answer.body.error).not.toBe('Invalid credentials format.')
      }
      for (const [path, body] of sent(address('c', 1025))) {
        const { status, body: refused } = await app.post(`/auth/${path}`, body)
        expect([path, status, refused.error]).toEqual([path, 400, 'Invalid credentials format.'])
      }
    }
    const { token, user } = await app.register(email)
    const change = { email: address('c', 1025), currentPassword: password }
    expect((await app.call('PATCH', `/auth/users/${user._id}`, change, token)).status).toBe(400)
  })
})

describe('a first proof', () => {
  it.each([
    [true, '+4930123456'],
    [false, undefined],
  ])(
    'is noted in provenEmail: %s; without it, each reset by mail is a first one',
    async (isNoted, phone) => {
      const { provenEmail, provenPhone, ...bare } = userModel().fields as Record<string, z.ZodType>
      const fields = isNoted ? { ...bare, provenEmail, provenPhone } : bare
      const unique = ['email', 'phone']
      const model = defineModel('User', { fields, unique, timestamps: true } as never) as never
      const app = await service({ model, auth: { updateFields: ['phone'] } })
      const { user } = await app.register(email, { phone: '+4930123456' })
      const reset = async (newPassword: string) => {
        app.later(700)
        await app.post('/auth/password/forgot', { identifier: email, channel: 'email' })
        const { code } = app.sent.at(-1) ?? {}
        expect(
          (await app.post('/auth/password/reset', { identifier: email, code, newPassword })).status,
        ).toBe(200)
        return (await app.stored(user._id)).phone
      }
      expect(await reset('the first new one')).toBeUndefined()
      const login = { identifier: email, password: 'the first new one' }
      const { token } = (await app.post('/auth/login', login)).body.data
      const change = { phone: '+4930123456', currentPassword: login.password }
      expect((await app.call('PATCH', `/auth/users/${user._id}`, change, token)).status).toBe(200)
      expect(await reset('the second new one')).toBe(phone)
    },
  )
})
