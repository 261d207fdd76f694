import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { password } from './accounts.ts'
import { type Service, service } from './service.ts'

const kinds = { identifiers: ['email', 'phone', 'username'] }
const signUp = async ({ post }: Service, body: object) =>
  (await post('/auth/register', { ...body, password })).status

describe('forms of identifiers', () => {
  it.each([
    'a\u0000b',
    'a\u200bb',
    'a\u200db',
    '\u2060ann',
    'a\nb',
    'a\u0007',
    'a\u202eb',
    'a\ufe0fb',
    'a\u2028b',
    '\u00ad',
  ])('a user name with a character that nobody sees is refused: %j', async (username) => {
    const app = await service({ auth: kinds as never })
    expect(await signUp(app, { username })).toBe(400)
    expect(await app.users.count()).toBe(0)
  })

  it.each(['ann lee', 'Ännchen', '李小龙', 'o’neill', 'ann.lee_7'])(
    '%s is a user name',
    async (username) => {
      const app = await service({ auth: kinds as never })
      expect(await signUp(app, { username: ` ${username} ` })).toBe(201)
      expect((await app.post('/auth/login', { identifier: username, password })).status).toBe(200)
    },
  )

  it.each([
    'kim@example\u3002com',
    'kim@example\uff0ecom',
    'kim@example\uff61com',
    'kim@example\u2024com',
    'x@y\uff0e',
    'kim@\ufb01rm.com',
    'kim@\uff45xample.com',
    'kim@exam\ufe0fple.com',
    'kim@exam\u034fple.com',
  ])('another spelling of a domain is refused: %j', async (email) => {
    const app = await service()
    expect(await signUp(app, { email })).toBe(400)
  })

  it.each([
    'kim@münchen.example',
    'kim@straße.example',
    'kim@例え.example',
    'kim@xn--mnchen-3ya.example',
  ])('%s is an address', async (email) => {
    const app = await service()
    expect(await signUp(app, { email })).toBe(201)
  })

  it('a phone number has at most 20 digits', async () => {
    const app = await service({ auth: kinds as never })
    expect(await signUp(app, { phone: `+${'1'.repeat(21)}` })).toBe(400)
    expect(await signUp(app, { phone: '1'.repeat(1000) })).toBe(400)
    expect(await signUp(app, { phone: `+${'1'.repeat(20)}` })).toBe(201)
  })

  it.each(['registerFields', 'updateFields'])(
    "the field that disables accounts in '%s' is a start-up error",
    async (option) => {
      const auth = { fields: { disabled: 'banned' }, [option]: ['name', 'banned'] } as never
      const fields = { banned: z.boolean().optional() }
      await expect(service({ auth, fields })).rejects.toThrow(
        `Auth: '${option}' names 'banned', which no client may write`,
      )
    },
  )
})
