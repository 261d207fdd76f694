import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  createAuthRouter,
  createRouter,
  defineModel,
  type RecordOf,
  userFields,
} from '../../src/index.ts'
import { secret } from './accounts.ts'
import { service } from './service.ts'

describe('2.4 the fields of userFields', () => {
  it('gives the fields of spec 2.4, secrets hidden', () => {
    const options = {
      identifiers: ['email', 'phone'],
      social: { google: { clientId: 'x' } },
      refresh: { enabled: true },
    } as const
    const User = defineModel('User', {
      fields: { ...userFields(options), name: z.string() },
      unique: ['email', 'phone', 'googleId'],
    })
    expect(Object.keys(User.fields).sort()).toEqual([
      'answerAttempts',
      'answersLockedUntil',
      'email',
      'failedLoginAttempts',
      'googleId',
      'keysEndedAt',
      'knownClients',
      'knownTries',
      'lockedUntil',
      'name',
      'otpAttempts',
      'otpExpiresAt',
      'otpHash',
      'otpPurpose',
      'otpSentAt',
      'password',
      'passwordChangedAt',
      'phone',
      'provenEmail',
      'provenPhone',
      'refreshTokens',
      'role',
      'smsOtpAttempts',
      'smsOtpExpiresAt',
      'smsOtpHash',
      'smsOtpSentAt',
      'takeovers',
      'wrongPasswords',
    ])
    expect([...User.hidden].sort()).toEqual([
      'answerAttempts',
      'answersLockedUntil',
      'failedLoginAttempts',
      'keysEndedAt',
      'knownClients',
      'knownTries',
      'lockedUntil',
      'otpAttempts',
      'otpExpiresAt',
      'otpHash',
      'otpPurpose',
      'otpSentAt',
      'password',
      'passwordChangedAt',
      'provenEmail',
      'provenPhone',
      'refreshTokens',
      'smsOtpAttempts',
      'smsOtpExpiresAt',
      'smsOtpHash',
      'smsOtpSentAt',
      'takeovers',
      'wrongPasswords',
    ])
  })

  it('is typed by its options', () => {
    const User = defineModel('User', {
      fields: {
        ...userFields({
          identifiers: ['email', 'username'],
          roles: { multiple: true },
          fields: { password: 'hash' },
        }),
        age: z.number(),
      },
      unique: ['email', 'username'],
    })
    type User = RecordOf<typeof User>
    expectTypeOf<User['role']>().toEqualTypeOf<string[]>()
    expectTypeOf<User['age']>().toEqualTypeOf<number>()
    expectTypeOf<User['username']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<User['hash']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<User>().not.toHaveProperty('password')
    expectTypeOf<User>().not.toHaveProperty('knownClients')
    createAuthRouter({
      model: User,
      token: { secret },
      identifiers: ['email', 'username'],
      roles: { multiple: true },
      fields: { password: 'hash' },
      registerFields: ['age'],
    })
  })

  it('keeps one form of an address, whatever writes it', async () => {
    const app = await service()
    const { _id } = await app.users.insert({ email: ' ANN@Example.com' })
    expect((await app.stored(_id)).email).toBe('ann@example.com')
    await expect(app.users.insert({ email: 'nonsense' })).rejects.toThrow(
      'Check the submitted values.',
    )
  })
})

describe('2.4 a resource router over the user model', () => {
  it('refuses legacyMode', async () => {
    const app = await service()
    app.app.mount(
      '/people',
      createRouter({ model: app.User, allowedFields: ['name'], legacyMode: true } as never),
    )
    await expect(app.app.ready()).rejects.toThrow(/'legacyMode' cannot be used with 'User'/)
  })

  it('needs allowedFields, in whatever order the routers are mounted', async () => {
    const app = await service()
    app.app.mount('/people', createRouter({ model: app.User }))
    await expect(app.app.ready()).rejects.toThrow(
      /'allowedFields' must name the writable fields of 'User'/,
    )
  })

  it('has no secret, role or provider id among the fields that it allows by default', async () => {
    const auth = { social: { google: { clientId: 'x' } } }
    const app = await service({ auth, unique: ['googleId'] })
    app.app.mount(
      '/people',
      createRouter({ model: app.User, allowedFields: { create: ['name'] } } as never),
    )
    const { user } = await app.register('ann@example.com')
    const before = await app.stored(user._id)
    const body = {
      name: 'N',
      role: 'admin',
      password: 'x',
      googleId: 'g',
      otpHash: 'h',
      failedLoginAttempts: -5,
      provenEmail: 'x',
      lockedUntil: '2040-01-01',
    }
    expect((await app.call('PATCH', `/people/${user._id}`, body)).status).toBe(200)
    const { updatedAt: _, ...after } = await app.stored(user._id)
    const { updatedAt: __, ...untouched } = before
    expect(after).toEqual({ ...untouched, name: 'N' })
  })

  it('shows no secret, and no filter reaches one', async () => {
    const app = await service()
    app.app.mount(
      '/people',
      createRouter({ model: app.User, allowedFields: [], query: ['email'] } as never),
    )
    await app.register('ann@example.com')
    const list = await app.call('GET', '/people')
    expect(Object.keys(list.body.data[0]).sort()).toEqual([
      '_id',
      'createdAt',
      'email',
      'role',
      'updatedAt',
    ])
    const other = await service()
    expect(() =>
      other.app.mount(
        '/people',
        createRouter({ model: other.User, allowedFields: [], query: ['password'] } as never),
      ),
    ).toThrow(/hidden/)
  })
})
