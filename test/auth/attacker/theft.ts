/**
 * A session, a password and a mailed code are stolen while they are good, and used at the very moment at which their owner or an
 * admin ends them: what the thief gets out of it must be over with it.
 *
 * @module
 */

import { ACTS, ADMIN_ACTS } from './acts.ts'
import type { Pick } from './attempts.ts'
import type { Name, Shown, World } from './world.ts'

/** What ends it. Whether keys end as well, and sign-ins that come a moment before it. */
const ENDINGS = {
  'change the password': { signIns: true, keys: false },
  reset: { signIns: true, keys: false },
  // A sign-in may come a moment after these.
  'log out everywhere': { signIns: false, keys: false },
  disable: { signIns: false, keys: true },
  delete: { signIns: true, keys: true },
}

/** What is still good afterwards, if something is. */
export async function stolen(
  world: World,
  pick: Pick,
  root: () => Promise<string>,
): Promise<string | undefined> {
  const name: Name = pick(['ann', 'bob'])
  const who = world.people[name]
  const [address = ''] = who.addresses
  const doing = { world, who, address, pick, at: pick([0, 1]) }
  await ACTS['sign in by a code']?.(doing)
  const session = who.sessions.at(-1)
  if (!session) return undefined
  // The account that the address opens, and no other one of theirs.
  const email = (await world.users.findById(session.account))?.email
  if (email !== address || (await world.ownerOf(session.account)) !== name) return undefined
  await world.ask('eve', 'POST', '/login/code', { body: { identifier: address } })
  const { account } = session
  const ending = pick(Object.keys(ENDINGS) as (keyof typeof ENDINGS)[])
  const token = await root()
  const loot = {
    ...session,
    address,
    otp: world.mailed(address, 'signInCode'),
    password: who.password,
  }
  const [shownBefore, endedBefore] = [world.shown.length, world.over.length]
  const end = ACTS[ending]?.(doing) ?? ADMIN_ACTS[ending]?.(world, account, token)
  await Promise.all([end, ...use(world, loot, ENDINGS[ending].signIns)])
  const gained = world.shown.splice(shownBefore)
  // What they got is known to nobody after this.
  world.shown.push(...gained.filter((one) => one.of !== 'eve'))
  if (world.over.length === endedBefore) return undefined
  const counts = gained.filter(
    (one) => one.of === 'eve' && (one.kind !== 'key' || ENDINGS[ending].keys),
  )
  for (const one of counts) {
    if (await isGood(world, one)) return `${one.kind} of a thief of ${name}'s outlives: ${ending}`
  }
  return undefined
}

async function isGood(world: World, { kind, value }: Shown): Promise<boolean> {
  const tries = [0, 1].map((at) =>
    kind === 'refresh token'
      ? world.ask('eve', 'POST', '/token/refresh', { body: { refreshToken: value }, at })
      : world.ask('eve', 'GET', '/things/me', { token: value, at }),
  )
  return (await Promise.all(tries)).some(({ status }) => status === 200)
}

interface Loot {
  readonly token: string
  readonly refreshToken: string
  readonly address: string
  readonly otp: string | undefined
  readonly password: string
}

/** All of it at once, at both processes. */
function use(world: World, loot: Loot, signIns: boolean): Promise<unknown>[] {
  const { refreshToken, address: identifier, otp, password } = loot
  const allow = [{ mount: '/things', actions: ['GET /me'] }]
  const post = (path: string, body: object, token?: string) =>
    [0, 1].map((at) => world.ask('eve', 'POST', path, { body, at, ...(token && { token }) }))
  return [
    ...post('/token/refresh', { refreshToken }),
    ...post('/keys', { name: 'K', allow }, loot.token),
    ...post('/login/confirm', { password }, loot.token),
    ...(signIns ? [{ password }, { otp }] : []).flatMap((one) =>
      post('/login', { identifier, ...one }),
    ),
  ]
}
