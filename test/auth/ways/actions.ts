/**
 * What the two people do, as data, so that a sequence can be repeated and made shorter.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import { add, drop, enter, enterAt, enterByCodes, enterByPasskeys, type Thing } from './methods.ts'
import { fieldOf, OWNED, type Person, type World } from './world.ts'

/** One step of a sequence. Addresses are short names. */
export type Action = { readonly who: Person } & (
  | { readonly do: 'register'; readonly ids: readonly string[] }
  | { readonly do: 'login'; readonly id: string }
  | { readonly do: 'forgot'; readonly id: string; readonly channel: 'email' | 'sms' }
  | { readonly do: 'reset'; readonly id: string }
  | {
      readonly do: 'social'
      readonly with: 'one' | 'two'
      readonly email?: string
      readonly verified: boolean
    }
  | { readonly do: 'patch'; readonly id: string }
  | { readonly do: 'ask to verify'; readonly id: string; readonly signedIn: boolean }
  | { readonly do: 'verify'; readonly id: string; readonly signedIn: boolean }
  | { readonly do: 'change password' }
  | { readonly do: 'refresh' }
  | { readonly do: 'disable' | 'enable' }
  | { readonly do: 'wait'; readonly seconds: number }
  | MethodAction
)

/** What goes by methods. */
type MethodAction =
  | { readonly do: 'add' | 'drop'; readonly what: Thing }
  | { readonly do: 'use passkeys' }
  | { readonly do: 'ask for a code' | 'use codes'; readonly id: string }
  | {
      readonly do: 'go to'
      readonly at: 'first' | 'second'
      readonly email?: string
      readonly verified: boolean
    }

/** Carries an action out and keeps what it gives. */
export async function act(world: World, action: Action): Promise<void> {
  const { who } = action
  const { address, ask } = world
  const held = world.holdings(who)
  const current = held.passwords.at(-1)
  const signedIn = held.sessions.at(-1)
  switch (action.do) {
    case 'register': {
      const ids = action.ids.map((id) => [fieldOf(id), address(id)])
      const password = newPassword(world, who)
      await enter(
        world,
        who,
        await ask('POST', '/register', { ...Object.fromEntries(ids), password }),
      )
      return
    }
    case 'login': {
      if (current === undefined) return
      const body = { identifier: address(action.id), password: current }
      await enter(world, who, await ask('POST', '/login', body))
      return
    }
    case 'forgot': {
      const { id, channel } = action
      await ask('POST', '/password/forgot', { identifier: address(id), channel })
      return
    }
    case 'reset': {
      for (const code of world.codes(who).slice(-2)) await reset(world, who, action.id, code)
      return
    }
    case 'social':
      await social(world, who, action.with, action.email, action.verified)
      return
    case 'patch': {
      if (!signedIn) return
      const body = { [fieldOf(action.id)]: address(action.id), currentPassword: current }
      await ask('PATCH', `/users/${signedIn.id}`, body, signedIn.token)
      return
    }
    case 'ask to verify':
    case 'verify':
      return verification(world, action)
    case 'change password':
    case 'refresh':
      return signedInAction(world, who, action.do)
    case 'disable':
    case 'enable':
      if (signedIn) await world.disable(signedIn.id, action.do === 'disable')
      return
    case 'wait':
      return world.later(action.seconds)
    default:
      return byMethod(world, action)
  }
}

async function byMethod(
  world: World,
  action: MethodAction & { readonly who: Person },
): Promise<void> {
  const { who } = action
  switch (action.do) {
    case 'add':
      return add(world, who, action.what)
    case 'drop':
      return drop(world, who, action.what)
    case 'use passkeys':
      await enterByPasskeys(world, who)
      return
    case 'ask for a code':
      await world.ask('POST', '/login/code', { identifier: world.address(action.id) })
      return
    case 'use codes':
      await enterByCodes(world, who, action.id)
      return
    case 'go to':
      await enterAt(world, who, action.at, action.email, action.verified)
  }
}

async function signedInAction(
  world: World,
  who: Person,
  what: 'change password' | 'refresh',
): Promise<void> {
  const { sessions, passwords } = world.holdings(who)
  const session = sessions.at(-1)
  const currentPassword = passwords.at(-1)
  if (!session) return
  if (what === 'refresh') {
    const { refreshToken } = session
    await enter(world, who, await world.ask('POST', '/token/refresh', { refreshToken }))
    return
  }
  const body = { currentPassword, newPassword: newPassword(world, who) }
  await world.ask('POST', '/password/change', body, session.token)
}

async function verification(
  world: World,
  action: Extract<Action, { readonly do: 'ask to verify' | 'verify' }>,
): Promise<void> {
  const { who, id } = action
  const token = action.signedIn ? world.holdings(who).sessions.at(-1)?.token : undefined
  const identifier = world.address(id)
  if (action.do === 'ask to verify') {
    await world.ask('POST', '/email/code', { identifier }, token)
    return
  }
  for (const otp of world.codes(who).slice(-2)) {
    await world.ask('POST', '/email/verify', { identifier, otp }, token)
  }
}

/** Resets by a code with a new password of the person; gives the status. */
export async function reset(world: World, who: Person, id: string, code: string): Promise<number> {
  const body = { identifier: world.address(id), code, newPassword: newPassword(world, who) }
  return (await world.ask('POST', '/password/reset', body)).status
}

/** Signs in with the person's account at a provider. */
export async function social(
  world: World,
  who: Person,
  provider: string,
  email?: string,
  verified = false,
) {
  const id = `${who}.${world.address('V')}`
  const claim: Fields =
    email === undefined ? {} : { email: world.address(email), emailVerified: verified }
  world.holdings(who).links.add(provider)
  const profile = { id, ...claim }
  return enter(world, who, await world.ask('POST', `/social/${provider}`, { profile }))
}

function newPassword(world: World, who: Person): string {
  const { passwords } = world.holdings(who)
  passwords.push(`${who} password ${passwords.length}`)
  return String(passwords.at(-1))
}

/** A random action. The owner uses addresses of their own, the attacker any; only who controls one can prove it. */
export function randomAction(pick: <T>(from: readonly T[]) => T): Action {
  const who = pick(['owner', 'attacker'] as const)
  const mine = OWNED[who]
  const any = who === 'owner' ? mine : [...OWNED.owner, ...OWNED.attacker]
  const email = pick(any.filter((id) => fieldOf(id) === 'email'))
  const phone = pick(any.filter((id) => fieldOf(id) === 'phone'))
  const name = pick(mine.filter((id) => fieldOf(id) === 'username'))
  const id = pick([email, email, phone, name])
  const signedIn = pick([true, false])
  return pick<() => Action>([
    () => ({
      who,
      do: 'register',
      ids: pick([[email], [email, phone], [email, phone, name], [phone, name]]),
    }),
    () => ({ who, do: 'register', ids: pick([[email], [email, phone], [phone]]) }),
    () => ({ who, do: 'login', id }),
    () => ({ who, do: 'forgot', id, channel: pick(['email', 'sms']) }),
    () => ({ who, do: 'forgot', id, channel: pick(['email', 'sms']) }),
    () => ({ who, do: 'reset', id }),
    () => ({ who, do: 'reset', id }),
    () => ({
      who,
      do: 'social',
      with: pick(['one', 'two']),
      email,
      verified: mine.includes(email) && pick([true, false]),
    }),
    () => ({ who, do: 'social', with: pick(['one', 'two']), verified: false }),
    () => ({ who, do: 'patch', id }),
    () => ({ who, do: 'patch', id }),
    () => ({ who, do: 'ask to verify', id: email, signedIn }),
    () => ({ who, do: 'verify', id: email, signedIn }),
    () => ({ who, do: 'change password' }),
    () => ({ who, do: 'refresh' }),
    () => ({ who, do: pick(['disable', 'enable']) }),
    () => ({ who, do: 'wait', seconds: pick([61, 601]) }),
    () => ({ who, do: 'add', what: pick(['passkey', 'totp', 'key']) }),
    () => ({ who, do: 'add', what: pick(['passkey', 'totp', 'key']) }),
    () => ({ who, do: 'drop', what: pick(['passkey', 'totp', 'key']) }),
    () => ({ who, do: 'use passkeys' }),
    () => ({ who, do: 'ask for a code', id: email }),
    () => ({ who, do: 'use codes', id: email }),
    () => ({
      ...{ who, do: 'go to', at: pick(['first', 'second']), email },
      verified: mine.includes(email) && pick([true, false]),
    }),
    () => ({ who, do: 'go to', at: pick(['first', 'second']), verified: false }),
  ])()
}
