/**
 * What people do, each with their own mailboxes and devices; the attacker does the same with anyone's addresses. What an act
 * ends is noted, so that it can be tried afterwards.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { Authenticator, type PublicKey } from '../methods/authenticator.ts'
import type { Answer, Person, Shown, World } from './world.ts'

/** One of them does something; `address` is the one that it is about, and `at` the process. */
export interface Doing {
  readonly world: World
  readonly who: Person
  readonly address: string
  readonly at: number
  readonly pick: <T>(from: readonly T[]) => T
}

export type Act = (doing: Doing) => Promise<unknown>

const asker =
  ({ world, who, at }: Doing) =>
  (method: string, path: string, body?: object, token?: string) =>
    world.ask(who.name, method, path, { ...(body && { body }), ...(token && { token }), at })

/** Keeps the session that an answer opens, after the second step if there is one. */
async function enter(doing: Doing, answer: Answer): Promise<Answer> {
  const last = answer.ticket === undefined ? answer : await second(doing, answer.ticket)
  const { token, refreshToken, user } = last.data ?? {}
  if (typeof token === 'string')
    doing.who.sessions.push({ account: String(user._id), token, refreshToken })
  return last
}

async function second(doing: Doing, ticket: string, path = '/login', token?: string) {
  const { world, who, pick } = doing
  const ask = asker(doing)
  let answer: Answer | undefined
  const send = async (body: Fields) => {
    if (answer?.status === 200) return
    answer = await ask('POST', path, { ticket, ...body }, token)
    if (answer.status === 200)
      world.end(({ value }) => value === ticket || value === body.recoveryCode)
  }
  if (pick([true, false, false])) {
    const codes = world.shown.filter(
      (one) => one.of === who.name && one.kind === 'recovery code' && !one.isOver,
    )
    for (const { value } of codes.slice(0, 1)) await send({ recoveryCode: value })
  }
  for (const { secret } of who.totps.slice(-2)) {
    // No step counts twice.
    world.later(31)
    await send({ totp: await codeAt(secret, Math.floor(world.now() / 30_000)) })
  }
  return answer as Answer
}

/** The last session, made recent with what they have. */
async function recent(doing: Doing) {
  const session = doing.who.sessions.at(-1)
  if (!session) return undefined
  const { token } = session
  const confirm = { password: doing.who.password }
  const { ticket } = await asker(doing)('POST', '/login/confirm', confirm, token)
  if (ticket !== undefined) await second(doing, ticket, '/login/confirm', token)
  return session
}

const opens = ({ kind }: Shown) => kind === 'access token' || kind === 'refresh token'
/** What a new password ends. */
const endsWithPassword = (one: Shown) =>
  opens(one) || one.kind === 'ticket' || one.kind === 'mailed code'

function newPassword({ who }: Doing): string {
  const number = Number(/number (\d+)/.exec(who.password)?.[1]) + 1
  return who.password.replace(/number \d+/, `number ${number}`)
}

/** Notes that `who` has a new password at an account: every one before is over there. */
function changed({ who, world }: Doing, account: string | undefined, chosen: string): void {
  world.end((one) => one.account === account && endsWithPassword(one))
  const last = Number(/number (\d+)/.exec(chosen)?.[1])
  for (let number = 0; number < last; number += 1) {
    const before = chosen.replace(/number \d+/, `number ${number}`)
    world.keep(who.name, 'password', before, { account, isOver: true })
  }
  who.password = chosen
}

export const ACTS: Readonly<Record<string, Act>> = {
  async register(doing) {
    const { who, address } = doing
    const body = { email: address, password: who.password, name: who.name }
    return enter(doing, await asker(doing)('POST', '/register', body))
  },
  async login(doing) {
    const { who, address } = doing
    const body = { identifier: address, password: who.password }
    return enter(doing, await asker(doing)('POST', '/login', body))
  },
  async refresh(doing) {
    const { who, world } = doing
    const session = who.sessions.at(-1)
    if (!session) return
    const { refreshToken } = session
    const answer = await asker(doing)('POST', '/token/refresh', { refreshToken })
    if (answer.status !== 200) return
    await enter(doing, answer)
    // Until the grace is over, it may be sent again.
    world.later(11)
    world.end(({ value }) => value === refreshToken)
  },
  async logout(doing) {
    const session = doing.who.sessions.pop()
    if (!session) return
    const { refreshToken } = session
    const mine = doing.world.shown.find(({ value }) => value === refreshToken)
    const { status } = await asker(doing)('POST', '/logout', { refreshToken })
    // The attacker may have rotated it meanwhile: a token from before ends nothing.
    if (status === 200 && mine && doing.who.name !== 'eve')
      doing.world.end((one) => one.session === mine.session && opens(one))
  },
  async 'log out everywhere'(doing) {
    const session = doing.who.sessions.pop()
    if (!session) return
    const { status } = await asker(doing)('POST', '/logout/all', undefined, session.token)
    if (status === 200) doing.world.end((one) => one.account === session.account && opens(one))
  },
  async 'end a session'(doing) {
    const session = doing.who.sessions.at(-1)
    const ask = asker(doing)
    const { data } = await ask('GET', '/sessions', undefined, session?.token)
    const [first] = Array.isArray(data) ? data : []
    if (!first) return
    const { status } = await ask('DELETE', `/sessions/${first.id}`, undefined, session?.token)
    if (status === 200) doing.world.end((one) => one.session === first.id && opens(one))
  },
  async 'change the password'(doing) {
    const session = doing.who.sessions.at(-1)
    if (!session) return
    const chosen = newPassword(doing)
    const body = { currentPassword: doing.who.password, newPassword: chosen }
    const { status } = await asker(doing)('POST', '/password/change', body, session.token)
    if (status === 200) changed(doing, session.account, chosen)
  },
  async reset(doing) {
    const { address, world } = doing
    const ask = asker(doing)
    await ask('POST', '/password/forgot', { identifier: address })
    const code = own(doing, 'passwordReset')
    if (!code) return
    const chosen = newPassword(doing)
    const body = { identifier: address, code: code.value, newPassword: chosen }
    const { status } = await ask('POST', '/password/reset', body)
    if (status !== 200) return
    changed(doing, code.account, chosen)
    world.end(({ value }) => value === code.value)
    return enter(doing, await ask('POST', '/login', { identifier: address, password: chosen }))
  },
  async 'verify the address'(doing) {
    const token = doing.pick([doing.who.sessions.at(-1)?.token, undefined])
    const ask = asker(doing)
    await ask('POST', '/email/code', { identifier: doing.address }, token)
    const code = own(doing, 'emailVerification')
    if (!code) return
    const body = { identifier: doing.address, otp: code.value }
    const { status } = await ask('POST', '/email/verify', body, token)
    if (status === 200) doing.world.end(({ value }) => value === code.value)
  },
  async 'sign in by a code'(doing) {
    const ask = asker(doing)
    await ask('POST', '/login/code', { identifier: doing.address })
    const code = own(doing, 'signInCode')
    if (!code) return
    const body = { identifier: doing.address, otp: code.value }
    const answer = await ask('POST', '/login', body)
    // It has been taken, also if a second step is asked for.
    if (answer.status === 200 || answer.ticket) doing.world.end(({ value }) => value === code.value)
    return enter(doing, answer)
  },
  async 'change the address'(doing) {
    const session = doing.who.sessions.at(-1)
    if (!session) return
    const body = { email: doing.address, currentPassword: doing.who.password }
    return asker(doing)('PATCH', `/users/${session.account}`, body, session.token)
  },
  async 'sign in with a provider'(doing) {
    const { who, address, pick } = doing
    const isTheirs = who.addresses.includes(address)
    // A provider that lies about addresses says all but a plain `true`.
    const emailVerified = isTheirs ? true : pick([false, 'true', 1, undefined])
    const profile = { id: `one ${who.addresses[0]}`, email: address, emailVerified }
    return enter(doing, await asker(doing)('POST', '/social/one', { profile }))
  },
  async 'sign in with OpenID'(doing) {
    const { who, address, world } = doing
    const isTheirs = who.addresses.includes(address)
    const code = await world.brought(`sub ${who.addresses[0]}`, address, isTheirs)
    world.keep(who.name, 'openid code', code, { until: world.now() + 60_000 })
    const answer = await asker(doing)('POST', '/login/oidc', { code })
    if (answer.status !== 503) world.end(({ value }) => value === code)
    return enter(doing, answer)
  },
  async 'add an app'(doing) {
    const session = await recent(doing)
    if (!session) return
    const { world, who } = doing
    const ask = asker(doing)
    const begun = (await ask('POST', '/totp', {}, session.token)).data
    if (!begun?.secret) return
    const code = await codeAt(begun.secret, Math.floor(world.now() / 30_000))
    const body = { ticket: begun.ticket, code }
    const { status } = await ask('POST', '/totp/confirm', body, session.token)
    if (status !== 200) return
    const { account } = session
    const era = (await world.users.findById(account))?.takeovers
    who.totps.push({ account, secret: begun.secret, era })
  },
  async 'remove the app'(doing) {
    const session = await recent(doing)
    if (!session) return
    const { status } = await asker(doing)('DELETE', '/totp', undefined, session.token)
    if (status !== 200) return
    doing.world.end((one) => one.kind === 'recovery code' && one.of === doing.who.name)
    const gone = doing.who.totps.findIndex(({ account }) => account === session.account)
    if (gone >= 0) doing.who.totps.splice(gone, 1)
  },
  async 'renew the recovery codes'(doing) {
    const session = await recent(doing)
    if (!session) return
    const { world, who } = doing
    const before = new Set(world.shown)
    const { status } = await asker(doing)('POST', '/recovery-codes', {}, session.token)
    if (status === 200)
      world.end((one) => before.has(one) && one.kind === 'recovery code' && one.of === who.name)
  },
  async 'add a passkey'(doing) {
    const session = await recent(doing)
    if (!session) return
    const ask = asker(doing)
    const begun = (await ask('POST', '/passkeys/options', {}, session.token)).data
    if (!begun?.ticket) return
    const key = new Authenticator()
    const credential = await key.create(begun.publicKey as PublicKey)
    const body = { ticket: begun.ticket, credential }
    const { data } = await ask('POST', '/passkeys', body, session.token)
    if (data?.id) doing.who.passkeys.push({ account: session.account, id: data.id, key })
  },
  async 'remove a passkey'(doing) {
    const session = await recent(doing)
    const gone = doing.who.passkeys.find(({ account }) => account === session?.account)
    if (!session || !gone) return
    const { status } = await asker(doing)(
      'DELETE',
      `/passkeys/${gone.id}`,
      undefined,
      session.token,
    )
    if (status === 200) doing.who.passkeys.splice(doing.who.passkeys.indexOf(gone), 1)
  },
  async 'sign in by a passkey'(doing) {
    const last = doing.who.passkeys.at(-1)
    if (!last) return
    const ask = asker(doing)
    const { publicKey, ticket } = (await ask('POST', '/login/passkey/options', {})).data
    const credential = await last.key.get(publicKey as PublicKey)
    return enter(doing, await ask('POST', '/login/passkey', { ticket, credential }))
  },
  async 'make a key'(doing) {
    const session = await recent(doing)
    if (!session) return
    const allow = [{ mount: '/things', actions: ['GET /me'] }]
    const { data } = await asker(doing)('POST', '/keys', { name: 'K', allow }, session.token)
    if (!data?.key) return
    doing.who.keys.push({ account: session.account, id: data.id, key: data.key })
  },
  async 'end a key'(doing) {
    const session = await recent(doing)
    const gone = doing.who.keys.find(({ account }) => account === session?.account)
    if (!session || !gone) return
    const { status } = await asker(doing)('DELETE', `/keys/${gone.id}`, undefined, session.token)
    if (status === 200) doing.world.end(({ value }) => value === gone.key)
  },
  async 'delete the account'(doing) {
    const session = await recent(doing)
    if (!session || !doing.pick([true, false, false])) return
    const body = { currentPassword: doing.who.password }
    const path = `/users/${session.account}`
    const { status } = await asker(doing)('DELETE', path, body, session.token)
    if (status === 200) doing.world.end(({ account }) => account === session.account)
  },
  async wait({ world, pick }) {
    world.later(pick([5, 61, 301, 601, 1000]))
  },
}

/** The last code that reached them for a purpose. */
function own({ world, address, who }: Doing, purpose: string): Shown | undefined {
  const code = world.mailed(address, purpose)
  return world.shown.find((one) => one.value === code && one.of === who.name && !one.isOver)
}

const DISABLED_ENDS = (one: Shown) => endsWithPassword(one) || one.kind === 'key'

/** What the admin does to an account. */
export const ADMIN_ACTS: Readonly<
  Record<string, (world: World, account: string, token: string) => Promise<unknown>>
> = {
  async disable(world, account) {
    // Of two in one millisecond, the second ends nothing that came between them.
    world.later(1)
    await world.users.update(account, { banned: true })
    world.end((one) => one.account === account && DISABLED_ENDS(one))
    await world.users.update(account, { banned: false })
  },
  async 'end all sessions'(world, account, token) {
    const { status } = await world.ask('root', 'DELETE', `/users/${account}/sessions`, { token })
    if (status === 200) world.end((one) => one.account === account && opens(one))
  },
  async 'end all keys'(world, account, token) {
    const { status } = await world.ask('root', 'DELETE', `/users/${account}/keys`, { token })
    if (status === 200) world.end((one) => one.account === account && one.kind === 'key')
  },
  async delete(world, account, token) {
    const { status } = await world.ask('root', 'DELETE', `/users/${account}`, { token })
    if (status === 200) world.end((one) => one.account === account)
  },
  async promote(world, account, token) {
    const path = `/users/${account}/roles`
    for (const role of ['admin', 'user'])
      await world.ask('root', 'PATCH', path, { token, body: { role } })
  },
}
