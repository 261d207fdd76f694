import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  type AuthOptions,
  createAuthRouter,
  defineModel,
  type Fields,
  type Model,
  userFields,
} from '../../src/index.ts'
import { authOptions, secret, userModel } from './accounts.ts'
import { service } from './service.ts'

const make = (auth: object = {}, model: Model<Fields> = userModel({ auth: auth as never })) =>
  createAuthRouter(authOptions(model, [], auth as Partial<AuthOptions<Fields>>))

describe('answers, start-up errors', () => {
  const cases: Record<string, [object, RegExp]> = {
    'an empty secret': [{ token: { secret: '' } }, /token\.secret/],
    'a short secret': [{ token: { secret: 'x'.repeat(31) } }, /token\.secret/],
    'no secret': [{ token: {} }, /token\.secret/],
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
    'a lock without end': [
      { lockout: { lockSeconds: Number.MAX_SAFE_INTEGER } },
      /lockout\.lockSeconds/,
    ],
    'otp length': [{ otp: { length: 2 } }, /otp\.length/],
    'otp ttl': [{ otp: { ttlSeconds: -5 } }, /otp\.ttlSeconds/],
    'an otp ttl without end': [{ otp: { ttlSeconds: 1e15 } }, /otp\.ttlSeconds/],
    'otp attempts': [{ otp: { maxAttempts: '5' } }, /otp\.maxAttempts/],
    'refresh numbers': [{ refresh: { enabled: true, maxSessions: 0 } }, /refresh\.maxSessions/],
    'refresh grace': [{ refresh: { enabled: true, graceSeconds: -1 } }, /refresh\.graceSeconds/],
    'a grace without end': [
      { refresh: { enabled: true, graceSeconds: 1e12 } },
      /refresh\.graceSeconds/,
    ],
    'a grace of years': [
      { refresh: { enabled: true, graceSeconds: 1e9 } },
      /^Auth: 'refresh\.graceSeconds' must be a whole number, 0 to 3600$/,
    ],
    'a grace of more than an hour': [
      { refresh: { enabled: true, graceSeconds: 3601 } },
      /refresh\.graceSeconds/,
    ],
    'sessions without end': [
      { refresh: { enabled: true, maxSessions: 101 } },
      /^Auth: 'refresh\.maxSessions' must be a whole number, 1 to 100$/,
    ],
    'guesses at codes without end': [
      { otp: { maxAttempts: 1e15 } },
      /^Auth: 'otp\.maxAttempts' must be a whole number, 1 to 100$/,
    ],
    'a code of more than a day': [
      { otp: { ttlSeconds: 86_401 } },
      /^Auth: 'otp\.ttlSeconds' must be a whole number, 1 to 86400$/,
    ],
    'guesses at passwords without end': [
      { lockout: { maxAttempts: 1e15 } },
      /^Auth: 'lockout\.maxAttempts' must be a whole number, 1 to 1000000$/,
    ],
    'a lock of years': [
      { lockout: { lockSeconds: 1e8 } },
      /^Auth: 'lockout\.lockSeconds' must be a whole number, 1 to 2592000$/,
    ],
    'a password of one letter': [
      { password: { minLength: 1 } },
      /^Auth: 'password\.minLength' must be a whole number, 6 to 64$/,
    ],
    'a password that nobody can choose': [{ password: { minLength: 1024 } }, /minLength/],
    'refresh lifetime': [{ refresh: { enabled: true, expiresIn: '1 week' } }, /refresh\.expiresIn/],
    'password length': [{ password: { minLength: 0 } }, /password\.minLength/],
    'hash without verify': [{ password: { hash: () => 'x' } }, /password\.hash/],
    'a default role outside the list': [{ roles: { list: ['a'], default: 'b' } }, /roles\.default/],
    'an admin role outside the list': [{ roles: { list: ['a'], admin: 'b' } }, /roles\.admin/],
    'an unknown route': [{ routes: { signin: '/x' } }, /'routes' has the unknown key 'signin'/],
    'a path without slash': [{ routes: { login: 'x' } }, /routes\.login/],
    'a path without its parameter': [{ routes: { getUser: '/people' } }, /routes\.getUser/],
    'two routes on one path': [{ routes: { login: '/register' } }, /twice/],
    'two routes on one path but for the name of its parameter': [
      { routes: { getUser: '/u/:id', me: '/u/:x' } },
      /'GET \/u\/:id' twice/,
    ],
    'two routes on one path but for a slash': [{ routes: { login: '/register/' } }, /twice/],
    'an unknown middleware key': [{ middlewares: { signin: [] } }, /'middlewares'/],
    'a middleware that is no function': [{ middlewares: ['x'] }, /'middlewares'/],
    'a sender that is no function': [{ mail: { sender: 'x' } }, /mail\.sender/],
    'a transporter without sendMail': [{ mail: { transporter: {} } }, /mail\.transporter/],
    'a template of another type': [
      { mail: { sender() {}, templates: { passwordReset: 5 } } },
      /mail\.templates/,
    ],
    'an SMS sender that is none': [{ sms: {} }, /sms\.sender/],
    'an SMS template of another type': [
      { sms: { sender() {}, templates: { passwordReset: {} } } },
      /sms\.templates/,
    ],
    'google without clientId': [{ social: { google: {} } }, /'social\.google' needs 'clientId'/],
    'facebook without secret': [{ social: { facebook: { appId: 'x' } } }, /'appSecret'/],
    'github without secret': [{ social: { github: { clientId: 'x' } } }, /'clientSecret'/],
    'a provider without verify': [
      { social: { mastodon: {} } },
      /'social\.mastodon' needs 'verify'/,
    ],
    linking: [{ social: { linking: 'always' } }, /social\.linking/],
    'registerFields with a secret': [
      { registerFields: ['password'] },
      /'registerFields' names 'password'/,
    ],
    'updateFields with the role': [{ updateFields: ['role'] }, /'updateFields' names 'role'/],
    'registerFields with an id': [{ registerFields: ['_id'] }, /'registerFields' names '_id'/],
    'updateFields with a timestamp': [
      { updateFields: ['updatedAt'] },
      /'updateFields' names 'updatedAt'/,
    ],
    'a field that the model does not have': [
      { registerFields: ['nothing'] },
      /'registerFields' lists 'nothing'/,
    ],
    'no model': [{ model: {} }, /'model'/],
    'a token that is no object': [{ token: 5 }, /'token'/],
    'an issuer that is no text': [{ token: { secret, issuer: 5 } }, /token\.issuer/],
    'invalidation that is no flag': [
      { token: { secret, invalidateOnPasswordChange: 'no' } },
      /token\.invalidateOnPasswordChange/,
    ],
    'an identifier that is no text': [{ identifiers: [5] }, /identifiers/],
    'an identifier that only the server writes': [
      { identifiers: ['email', 'role'] },
      /'identifiers' names 'role'/,
    ],
    'a normalizer that is no function': [
      { identifiers: [{ field: 'email', normalize: 5 }] },
      /identifiers\.email\.normalize/,
    ],
    'a stored name that is no text': [{ fields: { email: 5 } }, /fields\.email/],
    'an unknown stored name': [{ fields: { mail: 'x' } }, /'fields' has the unknown key 'mail'/],
    'two things in one stored field': [{ fields: { otpHash: 'password' } }, /'fields' maps two/],
    'a role in a field of another use': [{ roles: { field: 'email' } }, /'fields' maps two/],
    'refresh.enabled': [{ refresh: { enabled: 'yes' } }, /refresh\.enabled/],
    'refresh.rotate': [{ refresh: { rotate: 1 } }, /refresh\.rotate/],
    'refresh.revokeAllOnReuse': [{ refresh: { revokeAllOnReuse: 1 } }, /refresh\.revokeAllOnReuse/],
    'refresh.maxLifetime': [{ refresh: { maxLifetime: 'x' } }, /refresh\.maxLifetime/],
    'an empty list of roles': [{ roles: { list: [] } }, /roles\.list/],
    'a role field that is no text': [{ roles: { field: 5 } }, /roles\.field/],
    'multiple roles in a field of one': [{ roles: { multiple: true } }, /'role' .* must be a list/],
    'lockout.reveal': [{ lockout: { reveal: 1 } }, /lockout\.reveal/],
    'otp.deliver': [{ otp: { deliver: 5 } }, /otp\.deliver/],
    'mail.from': [{ mail: { sender() {}, from: 5 } }, /mail\.from/],
    'mail.toField': [{ mail: { sender() {}, toField: 'inbox' } }, /'inbox' for mail\.toField/],
    'sms.toField': [{ sms: { sender() {}, toField: 'mobile' } }, /'mobile' for sms\.toField/],
    appName: [{ appName: '' }, /appName/],
    'a hook that is no function': [{ onLogin: 5 }, /onLogin/],
    'another hook that is no function': [{ onRegister: 5 }, /onRegister/],
    'social that is no object': [{ social: 5 }, /'social'/],
    'a provider that is no object': [{ social: { google: true } }, /social\.google/],
    'an unknown endpoint': [
      { social: { google: { clientId: 'x', endpoints: { nope: 'https://a.example' } } } },
      /social\.google\.endpoints/,
    ],
    'an endpoint that is no URL': [
      { social: { google: { clientId: 'x', endpoints: 'nope' } } },
      /social\.google\.endpoints/,
    ],
    'a jwksUrl that is no URL': [
      { social: { google: { clientId: 'x', jwksUrl: 'nonsense' } } },
      /social\.google\.jwksUrl/,
    ],
    'an idField that is no name': [
      { social: { google: { clientId: 'x', idField: 5 } } },
      /social\.google\.idField/,
    ],
    'two providers in one field': [
      {
        social: {
          google: { clientId: 'x', idField: 'socialId' },
          apple: { clientId: 'x', idField: 'socialId' },
        },
      },
      /idField/,
    ],
    'a middleware of a route that is no function': [
      { middlewares: { login: 5 } },
      /middlewares\.login/,
    ],
    maxLimit: [{ maxLimit: 0 }, /maxLimit/],
    defaultPageSize: [{ defaultPageSize: 200 }, /defaultPageSize/],
    maxTimeMS: [{ maxTimeMS: 'soon' }, /maxTimeMS/],
    countStrategy: [{ countStrategy: 'some' }, /countStrategy/],
    lean: [{ lean: 'yes' }, /lean/],
    'a visible field that there is not': [{ visibleFields: ['nope'] }, /visibleFields/],
    'visible fields that are no list': [{ visibleFields: null }, /visibleFields/],
    'a hidden visible field': [{ visibleFields: ['password'] }, /visibleFields/],
  }
  for (const [name, [auth, message]] of Object.entries(cases)) {
    it(`${name} is refused, and the error names the option`, () => {
      const model = userModel()
      expect(() => make(auth, model)).toThrow(message)
      expect(() => make(auth, model)).toThrow(/^Auth: /)
    })
  }

  it('a role that no list has, in requireRole', () => {
    const listed = make({ roles: { list: ['user', 'editor', 'admin'] } })
    expect(() => listed.requireRole('amdin')).toThrow(
      new TypeError(
        "Auth: requireRole() names 'amdin', but 'roles.list' has no such role (user, editor, admin). Did you mean 'admin'?",
      ),
    )
    expect(() => listed.requireRole('admin', ['editor', 'Editor'])).toThrow(/'Editor'.*'editor'\?$/)
    expect(() => listed.requireRole()).toThrow('Auth: requireRole() takes the names of roles')
    expect(listed.requireRole('admin', ['editor'])).toBeTypeOf('function')
    expect(() => listed.requireRole('boss')).toThrow(/no such role \(user, editor, admin\)\.$/)
    expect(() => make().requireRole('admin', 'amdin')).toThrow(/Did you mean 'admin'\?$/)
    expect(make().requireRole('admin', 'boss')).toBeTypeOf('function')
    expect(make({ roles: { admin: 'boss' } }).requireRole('boss')).toBeTypeOf('function')
  })

  it('updateFields with a provider id', () => {
    const auth = { social: { google: { clientId: 'x' } }, updateFields: ['googleId'] }
    expect(() => make(auth, userModel({ auth: auth as never, unique: ['googleId'] }))).toThrow(
      /'updateFields' names 'googleId'/,
    )
  })

  it('registerFields and updateFields with the id of a provider that is not enabled', () => {
    for (const option of ['registerFields', 'updateFields']) {
      for (const field of ['googleId', 'appleId', 'facebookId', 'githubId']) {
        const model = userModel({ fields: { [field]: z.string().optional() } })
        const named = new RegExp(`^Auth: '${option}' names '${field}'`)
        expect(() => make({ [option]: [field] }, model)).toThrow(named)
      }
    }
  })

  it('no options at all', () => {
    const without = createAuthRouter as () => unknown
    expect(without).toThrow(/^Auth: .*'options'/)
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
    // userFields() makes neither of these.
    const mail = { sender() {}, toField: 'backup' }
    for (const own of [{ fields: { disabled: 'blocked' } }, { mail }])
      expect(() => make({ ...auth, ...own }, model(''))).toThrow(
        /needs the field .*declare it there/,
      )
    expect(() => make(auth, model('lockedUntil', { lockedUntil: z.string().optional() }))).toThrow(
      /must be a date/,
    )
    expect(() => make({ ...auth, fields: { disabled: 'banned' } }, model(''))).toThrow(/'banned'/)
  })

  it('an identifier without a unique index', () => {
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

  it('a model that notes no proven mailbox works, with one warning that says what to write', async () => {
    const verify = () => undefined
    const ids = { oneId: z.string().optional(), twoId: z.string().optional() }
    const warnings = async (social: object, fields: object) => {
      const { provenEmail: _, ...bare } = { ...userFields(), provenEmail: undefined }
      const model = defineModel('User', {
        fields: { ...bare, ...ids, ...fields },
        unique: ['email', 'oneId', 'twoId'],
        hidden: Object.keys(fields) as never,
      })
      const auth = { identifiers: ['email'], refresh: {}, registerFields: [], updateFields: [] }
      const options = { ...auth, social, sms: undefined } as never
      const { log } = await service({ model: model as never, auth: options })
      return log.filter((line) => line.includes('userFields({ social'))
    }
    const two = { one: { verify }, two: { verify } }
    expect(await warnings(two, {})).toEqual([expect.stringContaining("has 'provenEmail'")])
    expect(await warnings({ one: { verify } }, {})).toEqual([])
    expect(await warnings({ ...two, linking: 'keep' }, {})).toEqual([])
    expect(await warnings(two, { provenEmail: z.string().optional() })).toEqual([])
  })

  it('the environment counts where the app is composed', async () => {
    await expect(service({ app: { env: { AUTH_REFRESH_ENABLED: 'perhaps' } } })).rejects.toThrow(
      /^Auth: .*AUTH_REFRESH_ENABLED/,
    )
    for (const env of [
      { SMTP_HOST: 'localhost', MAIL_FROM: 'a@b.example', SMTP_PORT: 'smtp' },
      { SMTP_HOST: 'localhost', MAIL_FROM: 'a@b.example', SMTP_USER: 'me' },
      { SMTP_HOST: 'localhost', MAIL_FROM: 'a@b.example', SMTP_SECURE: 'banana' },
      { SMTP_URL: 'smtp://localhost' },
      // As a compose file has a variable that nobody has set.
      { SMTP_URL: 'smtp://localhost', MAIL_FROM: '' },
    ]) {
      const started = service({ auth: { mail: undefined } as never, app: { env } })
      await expect(started).rejects.toThrow(/^Auth: .*(SMTP_PORT|SMTP_PASS|SMTP_SECURE|mail\.from)/)
    }
    const mail = { transport: 'smtp://localhost' }
    await expect(service({ auth: { mail } })).rejects.toThrow(/^Auth: .*'mail\.from'/)
    await expect(
      service({ auth: { mail }, app: { env: { MAIL_FROM: 'a@b.example' } } }),
    ).resolves.toBeDefined()
    await expect(service({ auth: { mail: {} } })).rejects.toThrow(/^Auth: 'mail' needs/)
    const auth = { refresh: undefined } as never
    await expect(service({ auth, app: { env: { AUTH_REFRESH_ENABLED: 'true' } } })).rejects.toThrow(
      /refreshTokens/,
    )
  })
})
