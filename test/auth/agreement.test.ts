import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createAuthRouter, defineModel, userFields } from '../../src/index.ts'

const token = { secret: 'a secret of at least 32 characters' }
const mail = { sender: () => {} }
const sms = mail
const withPhones = { identifiers: ['email', 'phone'] }
const onLogin = () => {}
const User = defineModel('AgreeingUser', {
  fields: {
    ...(userFields({
      identifiers: ['email', 'phone', 'username'],
      emailVerification: { enabled: true },
    } as never) as object),
    disabled: z.boolean().optional(),
    blocked: z.boolean().optional(),
  },
  unique: ['email', 'phone', 'username'],
} as never)

/** Mounts two auth routers over one model. */
function mounting(one: object, other: object): void {
  const quiet = () => {}
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const app = createApp({ store: sqliteStore(), logger })
  onTestFinished(() => app.close())
  const routerOf = (options: object) =>
    createAuthRouter({ model: User, token, mail, ...options } as never).router
  app.mount('/a', routerOf(one))
  app.mount('/b', routerOf(other))
}

it.each([
  ['identifiers', {}, { identifiers: ['email', 'username'] }],
  ['fields', {}, { fields: { disabled: 'disabled' } }],
  ['fields', { fields: { disabled: 'blocked' } }, { fields: { disabled: 'disabled' } }],
  ['lockout', {}, { lockout: { maxAttempts: 1000 } }],
  ['emailVerification', {}, { emailVerification: { enabled: true, required: true } }],
  ['onLogin', {}, { onLogin }],
  // What one of them takes for proven, the other would take for claimed.
  ['mail', {}, { mail: undefined }],
  ['sms', { ...withPhones, sms }, withPhones],
  ['onLogin', { onLogin: () => {} }, { onLogin }],
])('two auth routers over one model must agree in %s', (option, one, other) => {
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    expect(() => mounting(first, second)).toThrow(
      `Auth: '${option}' of the router at '/b' differs from that at '/a'`,
    )
  }
})

it('routers that agree may be mounted over one model', () => {
  mounting({ onLogin }, { onLogin, lockout: { maxAttempts: 10, lockSeconds: 900 } })
  const normalize = (text: string) => text
  const identifiers = () => ['email', { field: 'username', normalize }]
  mounting({ identifiers: identifiers() }, { identifiers: identifiers() })
  // Proves nothing: numbers are no identifiers here.
  mounting({ sms }, {})
})
