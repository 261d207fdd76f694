/**
 * What the attacker tries between the steps of the others, and what must not come of it.
 *
 * @module
 */

import { codeAt } from '../../../src/methods/totp/codes.ts'
import { type Attempt, DOORS, knownTo, OWN_DOORS, openedBy, stateOf, USUAL } from './doors.ts'
import { NAMES, type Name, type Shown, type World } from './world.ts'

export type Pick = <T>(from: readonly T[]) => T

/** How many attempts follow each step. */
const ATTEMPTS = 12
const HONEST: readonly Name[] = NAMES.filter((name) => name !== 'eve')

/** The attacker has found out a password, but has no second factor of that account. */
export async function withoutFactor(world: World, pick: Pick): Promise<string | undefined> {
  const guarded = HONEST.flatMap((name) =>
    world.people[name].totps.map((app) => ({ ...app, name })),
  )
  if (guarded.length === 0) return undefined
  const { account, name, era } = pick(guarded)
  const { email, takeovers } = (await world.users.findById(account)) ?? {}
  if (typeof email !== 'string' || takeovers !== era) return undefined
  const body = { identifier: email, password: world.people[name].password }
  const first = await world.ask('eve', 'POST', '/login', { body })
  if (openedBy(first, '/login') === account) return `the password alone signs in as ${name}`
  const { ticket } = first
  if (ticket === undefined) return undefined
  const token = world.people.eve.sessions.at(-1)?.token
  for (const answer of await answersOfEve(world, ticket)) {
    const sent = { body: { ticket, ...answer }, at: pick([0, 1]) }
    const one = await world.ask('eve', 'POST', '/login', sent)
    const other = await world.ask('eve', 'POST', '/login/confirm', {
      ...sent,
      ...(token && { token }),
    })
    if (one.status < 300 || other.status < 300)
      return `${JSON.stringify(answer)} answers the second step of ${name}`
  }
  return undefined
}

/** What the attacker has that looks like an answer to a second step. */
async function answersOfEve(world: World, ticket: string): Promise<readonly object[]> {
  const { totps, passkeys } = world.people.eve
  const kinds = ['recovery code', 'ticket', 'mailed code']
  const known = knownTo(world, 'eve').filter(({ kind }) => kinds.includes(kind))
  const answers: object[] = known
    .slice(-6)
    .flatMap(({ value }) => [{ recoveryCode: value }, { totp: value }])
  for (const { secret } of totps.slice(-1))
    answers.push({ totp: await codeAt(secret, Math.floor(world.now() / 30_000)) })
  for (const { key } of passkeys.slice(-1)) {
    const { data } = await world.ask('eve', 'POST', '/login/passkey/options', { body: { ticket } })
    if (data) answers.push({ passkey: await key.get(data.publicKey) })
  }
  return answers
}

/** The attacker tries what they know, each at some door, several at once; `isAlone` if nobody else does anything. */
export async function tried(
  world: World,
  pick: Pick,
  isAlone: boolean,
): Promise<string | undefined> {
  const known = knownTo(world, 'eve')
  const victims = [...world.creators.keys()].filter((id) => world.creators.get(id) !== 'eve')
  if (known.length === 0 || victims.length === 0) return undefined
  const planned = await Promise.all(
    Array.from({ length: ATTEMPTS }, () => plan(world, pick, known, victims)),
  )
  const states = () => Promise.all(victims.map((id) => stateOf(world, id)))
  const before = isAlone ? await states() : []
  const results = await Promise.all(planned.map((each) => attemptAt(world, each)))
  const found = results.find((result) => result !== undefined)
  if (found !== undefined || !isAlone) return found
  const after = await states()
  const at = after.findIndex((state, index) => state !== before[index])
  return at < 0 ? undefined : `an account is ${after[at]}, and was ${before[at]}`
}

interface Planned {
  readonly one: Shown
  readonly attempt: Attempt
  readonly door: (typeof DOORS)[number]
  readonly at: number
}

async function plan(
  world: World,
  pick: Pick,
  known: readonly Shown[],
  victims: readonly string[],
): Promise<Planned> {
  const { eve } = world.people
  // What has just ended, what has just been shown, or anything.
  const ended = world.over.slice(-10)
  const one = pick([
    ...(ended.length > 0 ? [pick(ended)] : []),
    pick(known.slice(-20)),
    pick(known),
  ])
  const isPassword = one.kind === 'password'
  // A password that is over at one account may be good at another of the same person.
  const account = (isPassword ? one.account : pick([one.account, pick(victims)])) ?? pick(victims)
  const record = await world.users.findById(account)
  const owner = world.people[pick(HONEST)]
  const address = String(record?.email ?? (isPassword ? 'nobody' : pick(owner.addresses)))
  const own = eve.sessions.at(-1)?.token
  const attempt: Attempt = {
    ...{ own, victim: { account, address } },
    known: one.value,
    password: pick([eve.password, owner.password]),
  }
  const doors = own ? [...DOORS, ...OWN_DOORS] : DOORS
  return {
    one,
    attempt,
    door: pick([pick(USUAL[one.kind] ?? doors), pick(doors)]),
    at: pick([0, 1]),
  }
}

async function attemptAt(world: World, { one, attempt, door, at }: Planned) {
  const { account } = attempt.victim
  const before = await world.ownerOf(account)
  const [method, path, body, token] = door(attempt)
  const isSignedIn = token !== undefined && token === attempt.own
  // What is over is worth nothing, but where the same is said to everyone.
  const isVain = one.isOver && !isSignedIn && path !== '/email/code'
  const sent = { at, ...(body && { body }), ...(token && { token }) }
  const answer = await world.ask('eve', method, path, sent)
  if (answer.status >= 300) return undefined
  const opened = openedBy(answer, path) ?? (path.startsWith('/users') ? account : undefined)
  const owner = opened === undefined ? undefined : await world.ownerOf(opened)
  // It may have been theirs until a moment ago.
  const isOthers = owner !== undefined && owner !== 'eve' && before !== 'eve'
  if (!isVain && !isOthers) return undefined
  const said = `${one.kind} of ${one.of}, ${one.isOver ? 'over' : 'live'}`
  return `${said}: ${answer.status} for ${method} ${path} ${JSON.stringify(body)}, of ${owner}`
}

/** Strangers learn from no answer whether an account is there. */
export async function told(world: World, pick: Pick): Promise<string | undefined> {
  // A password that is over at one account may be good at another of the same person.
  const others = knownTo(world, 'eve').filter(({ kind }) => kind !== 'password')
  const { value } = pick(others) ?? { value: '123456' }
  const routes: readonly (readonly [string, object])[] = [
    ['/login', { password: value.slice(0, 60) }],
    ['/login', { otp: value }],
    ['/password/forgot', {}],
    ['/password/reset', { code: value, newPassword: 'eve has this now' }],
    ['/login/code', {}],
    ['/email/code', {}],
    ['/email/verify', { otp: value }],
  ]
  const [path, body] = pick(routes)
  const victim = pick([...world.people.ann.addresses, ...world.people.bob.addresses])
  const states = new Set<string>()
  for (const identifier of [victim, `nobody.${victim}`]) {
    const { status, text, headers } = await world.ask('eve', 'POST', path, {
      body: { ...body, identifier },
    })
    const same = JSON.stringify([...headers].filter(([name]) => !/request-id|^date$/.test(name)))
    states.add(`${status} ${text.replace(/"requestId":"[^"]+"/, '')} ${same}`)
  }
  return states.size > 1
    ? `${path} tells who has an account: ${[...states].join(' / ')}`
    : undefined
}

/** Of several who send what counts once at the same moment, one gets in. */
export async function onlyOnce(world: World, pick: Pick): Promise<string | undefined> {
  if (pick([true, false, false])) {
    const { eve } = world.people
    const [address] = eve.addresses
    await world.ask('eve', 'POST', '/login/code', { body: { identifier: address } })
    const otp = world.mailed(String(address), 'signInCode')
    const code = await world.brought(`sub ${address}`, address, true)
    const bodies = [{ identifier: address, otp }, { oidc: code }]
    for (const body of bodies) {
      const answers = await Promise.all(
        [0, 1, 0, 1].map((at) => world.ask('eve', 'POST', '/login', { body, at })),
      )
      const taken = answers.filter(({ status, ticket }) => status === 200 || ticket).length
      if (taken > 1) return `${JSON.stringify(body)} counts ${taken} times`
    }
    world.end(({ value }) => value === otp)
  }
  return undefined
}

/** Neither events nor the log say a secret or an address; no mail says anything of somebody else. */
export function leaked({ shown, events, lines, mails, people }: World): string | undefined {
  const secrets = shown.filter(({ value }) => value.length >= 8)
  const said = [...events.map((event) => JSON.stringify(event)), ...lines]
  for (const line of said) {
    // What is sent as a part of a path is in the path.
    const text = line.replace(/"path":"[^"]*"/, '')
    const secret = secrets.find(({ value }) => text.includes(value))
    if (secret) return `${text} has a ${secret.kind}`
    if (text.includes('@example.com')) return `${text} has an address`
  }
  const others = NAMES.filter((name): name is Name => name !== 'eve').flatMap(
    (name) => people[name].addresses,
  )
  const toEve = mails.filter(({ to }) => people.eve.addresses.includes(to))
  const telling = toEve.find(({ text }) => others.some((address) => text?.includes(address)))
  return telling && `a mail to eve has an address of another: ${telling.text}`
}
