import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  type AuthOptions,
  createAuthRouter,
  createRouter,
  defineModel,
  type Fields,
  type Model,
  type RecordOf,
  userFields,
} from '../../src/index.ts'
import { authOptions, secret, userModel } from './accounts.ts'
import { service } from './service.ts'

const make = (auth: object = {}, model: Model<Fields> = userModel({ auth: auth as never })) =>
  createAuthRouter(authOptions(model, [], auth as Partial<AuthOptions<Fields>>))

describe('start-up errors', () => {
  const cases: Record<string, [object, RegExp]> = {
    'A2: an empty secret': [{ token: { secret: '' } }, /token\.secret/],
    'A2: a short secret': [{ token: { secret: 'x'.repeat(31) } }, /token\.secret/],
    'A2: no secret': [{ token: {} }, /token\.secret/],
    'no token at all': [{ token: undefined }, /token\.secret/],
    'a duration of nonsense': [{ token: { secret, expiresIn: 'soon' } }, /token\.expiresIn/],
    'a negative duration': [{ token: { secret, expiresIn: -1 } }, /token\.expiresIn/],
    'an empty audience': [{ token: { secret, audience: [] } }, /token\.audience/],
    'an unknown option': [{ tokens: {} }, /unknown key 'tokens'/],
    'an unknown key': [{ lockout: { attempts: 3 } }, /'lockout' has the unknown key 'attempts'/],
    'no identifiers': [{ identifiers: [] }, /identifiers/],
    'an identifier twice': [{ identifiers: ['email', 'email'] }, /identifiers/],
    'lockout numbers': [{ lockout: { maxAttempts: 0 } }, /lockout\.maxAttempts/],
    'lockout seconds': [{ lockout: { lockSeconds: 1.5 } }, /lockout\.lockSeconds/],
    'otp length': [{ otp: { length: 2 } }, /otp\.length/],
    'otp ttl': [{ otp: { ttlSeconds: -5 } }, /otp\.ttlSeconds/],
    'otp attempts': [{ otp: { maxAttempts: '5' } }, /otp\.maxAttempts/],
    'refresh numbers': [{ refresh: { enabled: true, maxSessions: 0 } }, /refresh\.maxSessions/],
    'refresh grace': [{ refresh: { enabled: true, graceSeconds: -1 } }, /refresh\.graceSeconds/],
    'refresh lifetime': [{ refresh: { enabled: true, expiresIn: '1 week' } }, /refresh\.expiresIn/],
    'password length': [{ password: { minLength: 0 } }, /password\.minLength/],
    'hash without verify': [{ password: { hash: () => 'x' } }, /password\.hash/],
    'a default role outside the list': [{ roles: { list: ['a'], default: 'b' } }, /roles\.default/],
    'an admin role outside the list': [{ roles: { list: ['a'], admin: 'b' } }, /roles\.admin/],
    'an unknown route': [{ routes: { signin: '/x' } }, /'routes' has the unknown key 'signin'/],
    'a path without slash': [{ routes: { login: 'x' } }, /routes\.login/],
    'a path without its parameter': [{ routes: { getUser: '/people' } }, /routes\.getUser/],
    'two routes on one path': [{ routes: { login: '/register' } }, /twice/],
    'an unknown middleware key': [{ middlewares: { signin: [] } }, /'middlewares'/],
    'a middleware that is no function': [{ middlewares: ['x'] }, /'middlewares'/],
    'a sender that is no function': [{ mail: { sender: 'x' } }, /mail\.sender/],
    'a transporter without sendMail': [{ mail: { transporter: {} } }, /mail\.transporter/],
    'a transport without from': [{ mail: { transport: 'smtp://localhost' } }, /mail\.from/],
    'a template of another type': [
      { mail: { sender() {}, templates: { passwordReset: 5 } } },
      /mail\.templates/,
    ],
    'an SMS sender that is none': [{ sms: {} }, /sms\.sender/],
    'an SMS template of another type': [
      { sms: { sender() {}, templates: { passwordReset: {} } } },
      /sms\.templates/,
    ],
    'D3: google without clientId': [
      { social: { google: {} } },
      /'social\.google' needs 'clientId'/,
    ],
    'facebook without secret': [{ social: { facebook: { appId: 'x' } } }, /'appSecret'/],
    'github without secret': [{ social: { github: { clientId: 'x' } } }, /'clientSecret'/],
    'a provider without verify': [
      { social: { mastodon: {} } },
      /'social\.mastodon' needs 'verify'/,
    ],
    linking: [{ social: { linking: 'always' } }, /social\.linking/],
    'E2: registerFields with a secret': [
      { registerFields: ['password'] },
      /'registerFields' names 'password'/,
    ],
    'E2: updateFields with the role': [{ updateFields: ['role'] }, /'updateFields' names 'role'/],
    'E2: registerFields with an id': [{ registerFields: ['_id'] }, /'registerFields' names '_id'/],
    'E2: updateFields with a timestamp': [
      { updateFields: ['updatedAt'] },
      /'updateFields' names 'updatedAt'/,
    ],
    'a field that the model does not have': [
      { registerFields: ['nothing'] },
      /'registerFields' names 'nothing'/,
    ],
    'a hidden visible field': [{ visibleFields: ['password'] }, /visibleFields/],
  }
  for (const [name, [auth, message]] of Object.entries(cases)) {
    it(`name the option: ${name}`, () => {
      const model = userModel()
      expect(() => make(auth, model)).toThrow(message)
      expect(() => make(auth, model)).toThrow(/^Auth: /)
    })
  }

  it('E2: updateFields with a provider id', () => {
    const auth = { social: { google: { clientId: 'x' } }, updateFields: ['googleId'] }
    expect(() => make(auth, userModel({ auth: auth as never, unique: ['googleId'] }))).toThrow(
      /'updateFields' names 'googleId'/,
    )
  })

  it('compare the model with what the options need', () => {
    const model = (drop: string, extra: object = {}) => {
      const { [drop]: _, ...fields } = userFields({
        refresh: { enabled: true },
      }) as unknown as Record<string, z.ZodType>
      return defineModel('User', {
        fields: { ...fields, ...extra },
        unique: drop === 'email' ? [] : ['email'],
      }) as never
    }
    const auth = { identifiers: ['email'], registerFields: [], updateFields: [], sms: undefined }
    for (const field of [
      'password',
      'role',
      'passwordChangedAt',
      'failedLoginAttempts',
      'lockedUntil',
      'refreshTokens',
      'otpHash',
      'otpExpiresAt',
      'email',
    ]) {
      expect(() => make(auth, model(field))).toThrow(new RegExp(`needs the field '${field}'`))
    }
    expect(() => make(auth, model('lockedUntil', { lockedUntil: z.string().optional() }))).toThrow(
      /must be a date/,
    )
    expect(() => make({ ...auth, fields: { disabled: 'banned' } }, model(''))).toThrow(/'banned'/)
  })

  it('E5: an identifier without a unique index', () => {
    const model = defineModel('User', {
      fields: userFields({ refresh: {} }),
      unique: [['email', 'role']],
    })
    const auth = { identifiers: ['email'], registerFields: [], updateFields: [], sms: undefined }
    expect(() => make(auth, model as never)).toThrow(/needs 'email' in its 'unique'/)
  })

  it('a provider id without a unique index', () => {
    const auth = { social: { google: { clientId: 'x' } } }
    expect(() => make(auth)).toThrow(/needs 'googleId' in its 'unique'/)
  })

  it('a secret that the model shows', () => {
    const fields = {
      ...(userFields({ identifiers: ['email', 'phone'], refresh: {} }) as unknown as Record<
        string,
        z.ZodType
      >),
    }
    const shown = { ...fields, name: z.string().optional(), password: z.string().optional() }
    const define = (hidden: string[]) =>
      defineModel('User', {
        fields: shown,
        unique: ['email', 'phone'] as never,
        hidden: hidden as never,
      }) as never
    expect(() => make({}, define([]))).toThrow(/'password' of the model 'User' is a secret/)
    expect(() => make({}, define(['password']))).not.toThrow()
  })

  it('the environment counts where the app is composed', async () => {
    await expect(service({ app: { env: { AUTH_REFRESH_ENABLED: 'perhaps' } } })).rejects.toThrow(
      /^Auth: .*AUTH_REFRESH_ENABLED/,
    )
    const auth = { refresh: undefined } as never
    await expect(service({ auth, app: { env: { AUTH_REFRESH_ENABLED: 'true' } } })).rejects.toThrow(
      /refreshTokens/,
    )
  })
})

describe('userFields', () => {
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
      'email',
      'failedLoginAttempts',
      'googleId',
      'lockedUntil',
      'name',
      'otpAttempts',
      'otpExpiresAt',
      'otpHash',
      'otpPurpose',
      'password',
      'passwordChangedAt',
      'phone',
      'provenEmail',
      'refreshTokens',
      'role',
    ])
    expect([...User.hidden].sort()).toEqual([
      'failedLoginAttempts',
      'lockedUntil',
      'otpAttempts',
      'otpExpiresAt',
      'otpHash',
      'otpPurpose',
      'password',
      'passwordChangedAt',
      'provenEmail',
      'refreshTokens',
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
    expectTypeOf<User['hash']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<User['username']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<User>().not.toHaveProperty('password')
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

describe('a resource router over the user model', () => {
  it('W8: refuses legacyMode', async () => {
    const app = await service()
    app.app.mount(
      '/people',
      createRouter({ model: app.User, allowedFields: ['name'], legacyMode: true } as never),
    )
    await expect(app.app.ready()).rejects.toThrow(/'legacyMode' cannot be used with 'User'/)
  })

  it('W9: needs allowedFields, in whatever order the routers are mounted', async () => {
    const app = await service()
    app.app.mount('/people', createRouter({ model: app.User }))
    await expect(app.app.ready()).rejects.toThrow(
      /'allowedFields' must name the writable fields of 'User'/,
    )
  })

  it('W9: has no secret, role or provider id among the fields that it allows by default', async () => {
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
