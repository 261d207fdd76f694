/**
 * What the two people do with the methods: passkeys, authenticator apps, codes by mail, OpenID providers and keys.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import { codeAt } from '../../../src/methods/totp/codes.ts'
import { Authenticator, type PublicKey } from '../methods/authenticator.ts'
import { type Answer, type Person, type Session, stepAt, type World } from './world.ts'

/** What a signed-in person may set up, and remove. */
export type Thing = 'passkey' | 'totp' | 'key'

/** Keeps the tokens of an answer that signs in, after the second step if there is one. */
export async function enter(world: World, who: Person, answer: Answer): Promise<Answer> {
  const last = answer.ticket === undefined ? answer : await second(world, who, answer.ticket)
  const { token, refreshToken, user } = last.data
  if (typeof token !== 'string') return last
  const id = String((user as Fields)._id)
  world.holdings(who).sessions.push({ id, token, refreshToken: String(refreshToken) })
  return last
}

/** Answers a second step with all that the person has. */
async function second(
  world: World,
  who: Person,
  ticket: string,
  path = '/login',
  token?: string,
): Promise<Answer> {
  const { totps, recovery, passkeys } = world.holdings(who)
  let answer: Answer = { status: 401, data: {} }
  const send = async (body: Fields) => {
    if (answer.status !== 200) answer = await world.ask('POST', path, { ticket, ...body }, token)
  }
  for (const secret of [...totps].reverse()) {
    // No step counts twice.
    world.later(31)
    await send({ totp: await codeAt(secret, stepAt(world.now())) })
  }
  for (const key of passkeys) {
    const { data } = await world.ask('POST', '/login/passkey/options', { ticket })
    await send({ passkey: await key.get(data.publicKey as PublicKey) })
  }
  for (const recoveryCode of recovery) await send({ recoveryCode })
  return answer
}

/** The person's last session, made recent with what they have. */
async function recent(world: World, who: Person): Promise<Session | undefined> {
  const { sessions, passwords } = world.holdings(who)
  const session = sessions.at(-1)
  if (!session) return undefined
  const { token } = session
  const confirm = { password: passwords.at(-1) ?? 'none' }
  const { ticket } = await world.ask('POST', '/login/confirm', confirm, token)
  if (ticket !== undefined) await second(world, who, ticket, '/login/confirm', token)
  return session
}

/** Sets up a passkey, an authenticator app or a key. */
export async function add(world: World, who: Person, what: Thing): Promise<void> {
  const session = await recent(world, who)
  if (!session) return
  const { token } = session
  const held = world.holdings(who)
  const post = (path: string, body: Fields = {}) => world.ask('POST', path, body, token)
  if (what === 'key') {
    const { data } = await post('/keys', {
      name: 'Key',
      allow: [{ mount: '/things', actions: ['GET /me'] }],
    })
    if (typeof data.key === 'string') held.keys.push(data.key)
    return
  }
  const begun = (await post(what === 'passkey' ? '/passkeys/options' : '/totp')).data
  if (begun.ticket === undefined) return
  if (what === 'passkey') {
    const key = new Authenticator()
    const credential = await key.create(begun.publicKey as PublicKey)
    const { status } = await post('/passkeys', { ticket: begun.ticket, credential })
    if (status === 201) held.passkeys.push(key)
    return
  }
  const secret = String(begun.secret)
  const code = await codeAt(secret, stepAt(world.now()))
  const { status, data } = await post('/totp/confirm', { ticket: begun.ticket, code })
  if (status !== 200) return
  held.totps.push(secret)
  held.recovery.push(...(data.recoveryCodes as string[]))
}

/** Removes what the person has set up. */
export async function drop(world: World, who: Person, what: Thing): Promise<void> {
  const session = await recent(world, who)
  if (!session) return
  const { token } = session
  if (what === 'totp') {
    await world.ask('DELETE', '/totp', undefined, token)
    return
  }
  const path = what === 'key' ? '/keys' : '/passkeys'
  const { data } = await world.ask('GET', path, undefined, token)
  const [first] = Array.isArray(data) ? (data as Fields[]) : []
  if (first) await world.ask('DELETE', `${path}/${String(first.id)}`, undefined, token)
}

/** Signs in by each passkey of the person. */
export async function enterByPasskeys(world: World, who: Person): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const key of world.holdings(who).passkeys) {
    const { data } = await world.ask('POST', '/login/passkey/options', {})
    const { publicKey, ticket } = data as { publicKey: PublicKey; ticket: string }
    const credential = await key.get(publicKey)
    const answer = await world.ask('POST', '/login/passkey', { ticket, credential })
    answers.push(await enter(world, who, answer))
  }
  return answers
}

/** Signs in by each of the last codes that reached the person. */
export async function enterByCodes(
  world: World,
  who: Person,
  id: string,
  codes: readonly string[] = world.codes(who).slice(-2),
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const otp of codes) {
    const answer = await world.ask('POST', '/login', { identifier: world.address(id), otp })
    answers.push(await enter(world, who, answer))
  }
  return answers
}

/** Signs in at an OpenID provider, which says what it knows of the person. */
export async function enterAt(
  world: World,
  who: Person,
  provider: string,
  email?: string,
  verified = false,
): Promise<Answer> {
  world.holdings(who).places.add(provider)
  const sub = `${who}.${world.address('V')}`
  const address = email === undefined ? undefined : world.address(email)
  const code = await world.brought(provider, { sub, email: address, isVouched: verified })
  return enter(world, who, await world.ask('POST', '/login/oidc', { code }))
}
