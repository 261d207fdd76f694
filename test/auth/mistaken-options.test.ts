import { expect, it } from 'vitest'
import * as z from 'zod'
import { passkeys } from '../../adapters/methods/passkeys/index.ts'
import { createAuthRouter, userFields } from '../../src/index.ts'
import { totp } from '../../src/methods/totp/index.ts'

const token = { secret: 'a secret of at least 32 characters' }
const site = { rpId: 'example.com', rpName: 'x', origins: ['https://example.com'] }
const factor = [totp({ issuer: 'Atlas' })]

it.each<[string, () => unknown, string]>([
  [
    'a secret from a variable that is not set',
    () => createAuthRouter({ token: { secret: undefined as never } }),
    "Auth: 'token.secret' must have at least 32 characters. It is undefined: is its environment variable set?",
  ],
  [
    'a role that would never be asked for its factor',
    () =>
      createAuthRouter({
        token,
        methods: factor,
        secondFactor: { requiredFor: ['amdin'] },
      } as never),
    "Auth: 'secondFactor.requiredFor' names 'amdin', but 'roles.list' has no such role (user, admin). Did you mean 'admin'?",
  ],
  [
    'a boolean that would block nobody',
    () => createAuthRouter({ token, fields: { disabled: z.boolean() } } as never),
    "Auth: 'fields.disabled' is the name of the boolean that blocks an account: write disabled: 'disabled', which declares it",
  ],
  [
    'fields that are none',
    () => createAuthRouter({ token, fields: true } as never),
    "Auth: 'fields' must be an object",
  ],
  [
    'a name of a stored field that is none',
    () => createAuthRouter({ token, fields: { email: 5 } } as never),
    "Auth: 'fields.email' must be a string",
  ],
  [
    'a list of roles that is none',
    () => createAuthRouter({ token, roles: { list: null } } as never),
    "Auth: 'roles.list' must be a list of names",
  ],
  [
    'a list of fields that is none',
    () => createAuthRouter({ token, registerFields: null } as never),
    "Auth: 'registerFields' must be a list of names",
  ],
  [
    'a provider',
    () => createAuthRouter({ token, social: { gogle: { clientId: 'x' } } } as never),
    "Auth: 'social.gogle' needs 'verify', a function. Did you mean 'google'?",
  ],
  [
    'an option of a provider',
    () =>
      createAuthRouter({
        token,
        social: { google: { clientId: 'x', nonse: 'required' } },
      } as never),
    "Auth: 'social.google' has the unknown key 'nonse'. Did you mean 'nonce'?",
  ],
  [
    'a provider that would not be off',
    () => createAuthRouter({ token, social: { mine: { verify() {}, enabled: 'false' } } } as never),
    "Auth: 'social.mine.enabled' must be true or false",
  ],
  [
    'identifiers that are no list',
    () => createAuthRouter({ token, identifiers: 'email' } as never),
    "Auth: 'identifiers' must be a list of names, such as ['email']",
  ],
  [
    'an identifier that is nothing',
    () => userFields({ identifiers: [null] } as never),
    "Auth: 'identifiers' must be a list of field names",
  ],
  ['no options', () => totp(undefined as never), 'totp: the options must be an object'],
  [
    'an option of totp',
    () => totp({ issuer: 'x', digits: 8 } as never),
    "totp: unknown option 'digits'. There are: issuer.",
  ],
  [
    'an option of passkeys',
    () => passkeys({ ...site, relatedOrigin: [] } as never),
    "passkeys: unknown option 'relatedOrigin'. Did you mean 'relatedOrigins'?",
  ],
])('start-up names %s', (_, start, message) => {
  expect(start).toThrow(new TypeError(message))
})
