/**
 * An app with an authenticator app as a second factor, and a user who is signed in.
 *
 * @module
 */

import { Secret, TOTP } from 'otpauth'
import { magicLink } from '../../../examples/magic-link/magic-link.ts'
import type { Fields } from '../../../src/index.ts'
import { apiKeys } from '../../../src/methods/api-keys/index.ts'
import { totp } from '../../../src/methods/totp/index.ts'
import { password } from '../accounts.ts'
import { type ServiceOptions, service } from '../service.ts'

export const email = 'ann@example.com'
export const credentials = { identifier: email, password }

/** An app with the factor, and a user who is signed in. */
export async function factored({ auth, ...more }: ServiceOptions = {}) {
  const methods = [totp({ issuer: 'Atlas' }), apiKeys(), magicLink()]
  const app = await service({ ...more, auth: { methods, ...auth } })
  const ann = await app.register(email)
  const codeOf = (secret: string, steps = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({
      timestamp: app.now() + steps * 30_000,
    })
  /** Sets the app up for the bearer of `token`. */
  const enrol = async (token = ann.token) => {
    const { secret, ticket } = (await app.post('/auth/totp', {}, token)).body.data
    const answer = await app.post('/auth/totp/confirm', { ticket, code: codeOf(secret) }, token)
    return { secret: String(secret), codes: answer.body.data.recoveryCodes as string[], answer }
  }
  const ticketOf = async () => (await app.post('/auth/login', credentials)).body.ticket
  const answer = async (more: Fields) =>
    app.post('/auth/login', { ticket: await ticketOf(), ...more })
  /** The token of a sign-in with both factors. */
  const strong = async (secret: string): Promise<string> => {
    app.later(30)
    return (await answer({ totp: codeOf(secret) })).body.data.token
  }
  const makeKey = (token: string) =>
    app.post('/auth/keys', { name: 'CI', allow: [{ mount: '*', actions: ['list'] }] }, token)
  return { ...app, ann, codeOf, enrol, ticketOf, answer, strong, makeKey }
}
