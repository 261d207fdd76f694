/**
 * A random programme of what people do, and of an attacker who tries all that they know at every door in between.
 *
 * @module
 */

import type { Store } from '../../../src/index.ts'
import { randomFrom } from '../../random.ts'
import { ACTS, ADMIN_ACTS } from './acts.ts'
import { leaked, onlyOnce, type Pick, told, tried, withoutFactor } from './attempts.ts'
import { stolen } from './theft.ts'
import { type Name, openWorld, type World } from './world.ts'

const STEPS = 40

/** What was found, and how to find it again. */
export interface Broken {
  readonly seed: number
  readonly step: number
  readonly what: string
}

/** Counts of what people have done successfully, for whoever wants to know whether the programme tries anything. */
export type Tally = Map<string, number>

/** Runs the programme of a seed: what is wrong, if something is. */
export async function attack(
  open: () => Store,
  seed: number,
  tally: Tally = new Map(),
): Promise<Broken | undefined> {
  const world = await openWorld(open, seed)
  const random = randomFrom(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  try {
    const root = await begin(world)
    if (pick([true, false])) await claim(world, pick)
    for (let step = 0; step < STEPS; step += 1) {
      const what =
        (await act(world, pick, root, tally)) ??
        (await tried(world, pick, true)) ??
        (await told(world, pick)) ??
        (await onlyOnce(world, pick)) ??
        (step % 5 === 0 ? await stolen(world, pick, root) : undefined)
      if (what !== undefined) return { seed, step, what }
    }
    const what = leaked(world)
    return what === undefined ? undefined : { seed, step: STEPS, what }
  } finally {
    await world.close()
  }
}

const ENTERING = [
  'register',
  'login',
  'login',
  'reset',
  'sign in by a code',
  'sign in with a provider',
  'sign in with OpenID',
  'sign in by a passkey',
]

/** Makes the admin, whom nobody attacks by name. */
async function begin(world: World): Promise<() => Promise<string>> {
  const { root } = world.people
  const [email] = root.addresses
  const { password } = root
  const { data } = await world.ask('root', 'POST', '/register', { body: { email, password } })
  await world.users.update(data.user._id, { role: 'admin' })
  return async () => {
    const body = { identifier: email, password }
    return (await world.ask('root', 'POST', '/login', { body })).data?.token
  }
}

/** The attacker is the first to say that an address is theirs, and puts a way in; then its owner comes. */
async function claim(world: World, pick: Pick): Promise<void> {
  const { ann, eve } = world.people
  const [address = ''] = ann.addresses
  const puts = ['make a key', 'add a passkey', 'add an app', 'make a key', 'add a passkey']
  const proofs = ['reset', 'sign in by a code', 'sign in with a provider', 'sign in with OpenID']
  const acts = ['register', pick(puts), pick(puts)]
  for (const name of acts) await ACTS[name]?.({ world, who: eve, address, pick, at: pick([0, 1]) })
  await ACTS[pick(proofs)]?.({ world, who: ann, address, pick, at: pick([0, 1]) })
}

/** Somebody does something, now and then while the attacker does as well, at the other process. */
async function act(
  world: World,
  pick: Pick,
  root: () => Promise<string>,
  tally: Tally,
): Promise<string | undefined> {
  const accounts = [...world.creators.keys()]
  if (accounts.length > 0 && pick([...Array(8).keys()]) === 0) {
    const name = pick(Object.keys(ADMIN_ACTS))
    const account = pick(accounts.filter((id) => world.creators.get(id) !== 'root'))
    if (account !== undefined) await ADMIN_ACTS[name]?.(world, account, await root())
    return undefined
  }
  const who = world.people[pick(['ann', 'ann', 'bob', 'eve'] as const)]
  const { ann, bob } = world.people
  const others = [...ann.addresses.slice(0, 1), ...bob.addresses.slice(0, 1)]
  // Most have one address, and seldom another.
  const [first = '', second = ''] = who.addresses
  const address = pick([...(who.name === 'eve' ? others : [first, first]), first, second])
  const isOver = ({ token }: { token: string }) =>
    world.shown.some(({ value, isOver }) => value === token && isOver)
  while (who.sessions.length > 0 && isOver(who.sessions.at(-1) as never)) who.sessions.pop()
  // Who is not signed in can do little else.
  const name = pick(who.sessions.length > 0 ? Object.keys(ACTS) : ENTERING)
  const doing = { world, who, address, pick, at: pick([0, 1]) }
  const before = world.shown.length
  const had = new Set(who.sessions)
  const work = ACTS[name]?.(doing)
  // What was over before it began stays so while it is going on.
  const broken = pick([true, false]) ? await tried(world, pick, false) : undefined
  await work
  if (world.shown.length > before) tally.set(name, (tally.get(name) ?? 0) + 1)
  const opened = who.sessions.filter((session) => !had.has(session))
  return broken ?? (await strayed(world, who.name, opened)) ?? (await withoutFactor(world, pick))
}

/** Whether someone has got into an account that is not theirs. */
async function strayed(
  world: World,
  who: Name,
  opened: readonly { readonly account: string }[],
): Promise<string | undefined> {
  for (const { account } of opened) {
    const owner = await world.ownerOf(account)
    if (owner !== undefined && owner !== who) return `${who} is in the account of ${owner}`
  }
  return undefined
}
