/**
 * Every place where something that was shown can be sent, whatever it is, and what must not come of it.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import type { Answer, Kind, Name, Shown, World } from './world.ts'

/** What the attacker sends: something that they know, with or without a session of their own, about a victim. */
export interface Attempt {
  readonly known: string
  /** A token of the attacker's own; undefined if they have none. */
  readonly own: string | undefined
  readonly victim: { readonly account: string; readonly address: string }
  readonly password: string
}

type Door = (
  attempt: Attempt,
) => readonly [method: string, path: string, body?: Fields | undefined, token?: string | undefined]

const post = (path: string, body: (attempt: Attempt) => Fields, isOwn = false): Door => {
  return (attempt) => ['POST', path, body(attempt), isOwn ? attempt.own : undefined]
}
/** As if it were an access token. */
const as = (method: string, path: string, body?: Fields): Door => {
  return ({ known }) => [method, path, body, known]
}
const allow = [{ mount: '/things', actions: ['GET /me'] }]

/** Where a thing that is over opens nothing. */
export const DOORS: readonly Door[] = [
  as('GET', '/me'),
  as('GET', '/things/me'),
  as('GET', '/users'),
  as('GET', '/sessions'),
  as('GET', '/keys'),
  as('GET', '/passkeys'),
  as('POST', '/logout/all'),
  as('POST', '/keys', { name: 'x', allow }),
  as('POST', '/totp', {}),
  as('POST', '/passkeys/options', {}),
  as('POST', '/recovery-codes', {}),
  as('DELETE', '/totp'),
  as('POST', '/email/code', {}),
  (attempt) => ['POST', '/login/confirm', { password: attempt.password }, attempt.known],
  (attempt) => [
    'POST',
    '/password/change',
    { currentPassword: attempt.password, newPassword: 'eve has this now' },
    attempt.known,
  ],
  ({ known, victim }) => ['PATCH', `/users/${victim.account}`, { name: 'eve' }, known],
  ({ known, victim }) => ['DELETE', `/users/${victim.account}`, {}, known],
  ({ known, victim }) => ['DELETE', `/users/${victim.account}/sessions`, undefined, known],
  ({ known, victim }) => ['PATCH', `/users/${victim.account}/roles`, { role: 'admin' }, known],
  post('/token/refresh', ({ known }) => ({ refreshToken: known })),
  post('/login', ({ known, victim }) => ({ identifier: victim.address, password: known })),
  post('/login', ({ known, victim }) => ({ identifier: victim.address, otp: known })),
  post('/login', ({ known }) => ({ oidc: known })),
  post('/login', ({ known }) => ({ ticket: known, totp: '000000' })),
  post('/login', ({ known }) => ({ ticket: known, recoveryCode: 'aaaa' })),
  post('/login', ({ known }) => ({ ticket: known })),
  post('/login', ({ known }) => ({ ticket: known, passkey: { id: 'x' } })),
  post('/login/oidc', ({ known }) => ({ code: known })),
  post('/login/passkey', ({ known }) => ({ ticket: known, credential: { id: 'x' } })),
  post('/password/reset', ({ known, victim }) => ({
    ...{ identifier: victim.address, code: known },
    newPassword: 'eve has this now',
  })),
  post('/email/verify', ({ known, victim }) => ({ identifier: victim.address, otp: known })),
  post('/email/verify', ({ known, victim }) => ({ identifier: victim.address, otp: known }), true),
]

/** Where a thing belongs. */
export const USUAL: Readonly<Partial<Record<Kind, readonly Door[]>>> = {
  'access token': [
    as('GET', '/me'),
    as('GET', '/things/me'),
    as('POST', '/keys', { name: 'x', allow }),
  ],
  'refresh token': [post('/token/refresh', ({ known }) => ({ refreshToken: known }))],
  key: [as('GET', '/things/me')],
  'openid code': [post('/login/oidc', ({ known }) => ({ code: known }))],
  password: [
    post('/login', ({ known, victim }) => ({ identifier: victim.address, password: known })),
  ],
}

/** Where the attacker, signed in as themselves, gets nowhere with things of others. */
export const OWN_DOORS: readonly Door[] = [
  post('/login/confirm', ({ known }) => ({ ticket: known, recoveryCode: known }), true),
  post('/login/confirm', ({ known }) => ({ password: known }), true),
  post('/login/confirm', ({ known }) => ({ oidc: known }), true),
  post('/login/confirm', ({ known, victim }) => ({ identifier: victim.address, otp: known }), true),
  post('/totp/confirm', ({ known }) => ({ ticket: known, code: '000000' }), true),
  post('/passkeys', ({ known }) => ({ ticket: known, credential: { id: 'x' } }), true),
  ({ victim, own }) => ['PATCH', `/users/${victim.account}`, { name: 'eve' }, own],
  ({ victim, own, known }) => [
    'PATCH',
    `/users/${victim.account}`,
    { email: 'eve@example.com', currentPassword: known },
    own,
  ],
  ({ victim, own, known }) => [
    'DELETE',
    `/users/${victim.account}`,
    { currentPassword: known },
    own,
  ],
  ({ victim, own }) => ['PATCH', `/users/${victim.account}/roles`, { role: 'admin' }, own],
  ({ victim, own }) => ['DELETE', `/users/${victim.account}/sessions`, undefined, own],
  ({ victim, own }) => ['DELETE', `/users/${victim.account}/keys`, undefined, own],
  ({ own, known }) => ['DELETE', `/sessions/${encodeURIComponent(known)}`, undefined, own],
  ({ own, known }) => ['DELETE', `/keys/${encodeURIComponent(known)}`, undefined, own],
  ({ own, known }) => ['PATCH', `/passkeys/${encodeURIComponent(known)}`, { name: 'x' }, own],
  ({ own, known }) => ['DELETE', `/passkeys/${encodeURIComponent(known)}`, undefined, own],
  ({ own }) => ['GET', '/users', undefined, own],
]

/** The account that an answer opens; undefined if it opens none. */
export function openedBy({ status, data }: Answer, path: string): string | undefined {
  if (status >= 300) return undefined
  const id = data?.user?._id ?? (/\/me$/.test(path) ? data?._id : undefined)
  return id === undefined ? undefined : String(id)
}

/** What of an account only its owner changes: all but sessions that end, and counts. */
export async function stateOf(world: World, account: string): Promise<string> {
  const record = await world.users.findById(account)
  if (!record) return 'none'
  const { password, email, provenEmail, pendingEmail, role, banned, oneId, name } = record
  return JSON.stringify({ password, email, provenEmail, pendingEmail, role, banned, oneId, name })
}

/** What the attacker knows: all of their own, what is over of everyone, and ids, which are no secret. */
export function knownTo(world: World, who: Name): readonly Shown[] {
  return world.shown.filter((one) => one.isOver || one.of === who)
}
