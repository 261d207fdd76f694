import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { namesOf } from '../../src/auth/setup/field-names.ts'
import { type Identifier, identifiersOf, misreadAs } from '../../src/auth/setup/identifiers.ts'
import { runs } from '../runs.ts'
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
    '\u2800',
    'admin\u2800',
    'admin\u{1d159}',
    'admin\ufffc',
    'admin\u3164',
    'admin\ufdd0',
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
    [{ username: 'caf\u00e9' }, { username: 'cafe\u0301' }],
    [{ username: 'bob smith' }, { username: 'bob\u00a0smith' }],
    [{ username: 'bob smith' }, { username: ' bob \u2009smith' }],
    [{ email: 'kim@b\u00fccher.example' }, { email: 'kim@xn--bcher-kva.example' }],
    // No capital is composed of these two, but the small letter is.
    [{ email: 'J\u030cim@x.example' }, { email: '\u01f0im@x.example' }],
    [{ email: 'MAY\u030a@x.example' }, { email: 'ma\u1e99@x.example' }],
    [{ email: '\u03aa\u0301@x.example' }, { email: '\u0390@x.example' }],
    [{ email: 'kim@xn--bcher-kva.example' }, { email: 'Kim@BU\u0308CHER.example' }],
    [{ phone: '+49 151 12345' }, { phone: '004915112345' }],
    [{ phone: '(00) 49-151.12345' }, { phone: '+4915112345' }],
  ])('%j and %j are one account', async (first, second) => {
    const app = await service({ auth: kinds as never })
    expect(await signUp(app, first)).toBe(201)
    expect(await signUp(app, second)).toBe(409)
    expect((await app.post('/auth/login', { ...second, password })).status).toBe(200)
    for (const identifier of [...Object.values(first), ...Object.values(second)]) {
      expect((await app.post('/auth/login', { identifier, password })).status).toBe(200)
    }
  })

  it('what your code stores has the same form, and what is no name is refused there too', async () => {
    const { users } = await service({ auth: kinds as never })
    const stored = await users.insert({
      username: ' cafe\u0301  one',
      email: 'kim@b\u00fccher.example',
    })
    expect(stored).toMatchObject({ username: 'caf\u00e9 one', email: 'kim@xn--bcher-kva.example' })
    await expect(users.insert({ username: 'a\u200bb' })).rejects.toThrow()
  })

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
    'kim@ex%41mple.com',
    'kim@exam\u00adple.com',
    // Not what name servers have.
    'kim@xn--.com',
    // Newer runtimes take any label of ASCII: it is no other spelling of what it decodes to.
    ...(URL.canParse('http://xn--a-ecp.example') ? [] : ['kim@xn--a-ecp.example']),
    'kim@xn--abc-.example',
    'kim@0x7f.1',
    'kim@127.0.0.1',
    'kim@2130706433',
    'kim@-example.com',
    'kim@exa!mple.com',
    `kim@${'x'.repeat(64)}.com`,
    `kim@${'xxxxxxx.'.repeat(32)}com`,
    '.kim@example.com',
    'kim.@example.com',
    'k..im@example.com',
  ])('another spelling of a domain, or none, is refused: %j', async (email) => {
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

  it.each([
    ['1', 400],
    ['112', 400],
    ['0', 400],
    ['+0', 400],
    ['+1-900', 400],
    ['+1-9001', 201],
    ['12345', 201],
    [`+${'1'.repeat(15)}`, 201],
    [`+${'1'.repeat(16)}`, 400],
    ['1'.repeat(1000), 400],
    ['0151 1234567', 201],
    ['+0151 1234567', 400],
    ['000151 1234567', 400],
    ['+49 (0) 151x', 400],
  ])(
    'a phone number has 5 to 15 digits, and a country after its plus: %s',
    async (phone, status) => {
      const app = await service({ auth: kinds as never })
      expect(await signUp(app, { phone })).toBe(status)
    },
  )

  const all = identifiersOf(['email', 'phone', 'username'], namesOf({}))
  const [email, phone, name] = all as [Identifier, Identifier, Identifier]
  const character = fc.constantFrom(
    ...'0189aZ@.+-() /_',
    ...[
      '\u00fc',
      'u\u0308',
      '\uff20',
      '\uff11',
      '\u0661',
      '\u00a0',
      '\u2013',
      'xn--',
      '00',
      '\u0130',
    ],
  )
  const text = fc.array(character, { maxLength: 12 }).map((parts) => parts.join(''))

  it('a normal form stays as it is', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...all), (typed, { normalize }) => {
        const normal = normalize(typed)
        if (normal !== undefined) expect(normalize(normal)).toBe(normal)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('no text that may be a user name is read as another identifier', () => {
    fc.assert(
      fc.property(text, (typed) => {
        const chosen = name.normalize(typed)
        if (chosen === undefined || misreadAs(name, chosen, all)) return
        for (const form of [typed, chosen]) {
          expect([email.normalize(form), phone.normalize(form)]).toEqual([undefined, undefined])
        }
      }),
      { numRuns: runs(2000) },
    )
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
