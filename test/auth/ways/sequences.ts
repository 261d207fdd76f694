/**
 * Random sequences of what two people do to accounts, and the invariant: once the owner has proven the mailbox, nothing
 * that the attacker holds opens the account, and the owner always gets to an account of their own.
 *
 * @module
 */

import type { Fields, Store } from '../../../src/index.ts'
import { type Action, act, keep, randomAction, reset, social } from './actions.ts'
import { type Answer, openApp, type World } from './world.ts'

const LONGEST = 8
/** More at once would wait for each other, and the app refuses what waits too long. */
const AT_ONCE = 100

/** How the owner proves the mailbox at the end. */
const PROOFS = ['mail', 'provider'] as const
type Proof = (typeof PROOFS)[number]

/** A sequence that broke the invariant, made as short as it gets. */
export interface Counterexample {
  readonly seed: number
  readonly actions: readonly Action[]
  readonly proof: Proof
  readonly broken: string
}

/** Runs `count` sequences; gives the first that breaks the invariant, shrunk. */
export async function explore(
  store: Store,
  count: number,
  seed: number,
  more: object = {},
): Promise<Counterexample | undefined> {
  const app = await openApp(store, more)
  const run = (actions: readonly Action[], proof: Proof) =>
    app.enter((world) => outcome(world, actions, proof))
  try {
    for (let first = 0; first < count; first += AT_ONCE) {
      const seeds = Array.from(
        { length: Math.min(AT_ONCE, count - first) },
        (_, at) => seed + first + at,
      )
      const found = await Promise.all(
        seeds.map(async (each) => {
          const { actions, proof } = sequenceOf(each)
          const broken = await run(actions, proof)
          return broken === undefined ? undefined : { seed: each, actions, proof, broken }
        }),
      )
      const broken = found.find((each) => each !== undefined)
      if (broken) return await shrunk(broken, run)
    }
    return undefined
  } finally {
    await app.close()
  }
}

/** The sequence of a seed. */
function sequenceOf(seed: number): { actions: readonly Action[]; proof: Proof } {
  const random = randomFrom(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const length = 2 + Math.floor(random() * (LONGEST - 1))
  return { actions: Array.from({ length }, () => randomAction(pick)), proof: pick(PROOFS) }
}

/** What breaks the invariant, if something does. */
async function outcome(
  world: World,
  actions: readonly Action[],
  proof: Proof,
): Promise<string | undefined> {
  for (const action of actions) await act(world, action)
  for (const id of world.disabled) await world.disable(id, false)
  world.later(1000)
  const id = proof === 'mail' ? await provenByMail(world) : await provenByProvider(world)
  if (id === undefined) return 'the owner of the mailbox gets to no account'
  return openedBy(world, id)
}

/** The account that the owner reaches with the mailbox alone. */
async function provenByMail(world: World): Promise<string | undefined> {
  const before = world.codes('owner').length
  const forgot = { identifier: world.address('V'), channel: 'email' }
  await world.ask('POST', '/password/forgot', forgot)
  if (world.codes('owner').length === before) {
    await act(world, { who: 'owner', do: 'register', ids: ['V'] })
    await world.ask('POST', '/password/forgot', forgot)
  }
  for (const code of world.codes('owner').slice(before)) await reset(world, 'owner', 'V', code)
  const password = world.holdings('owner').passwords.at(-1)
  const { data } = await world.ask('POST', '/login', { identifier: world.address('V'), password })
  return (data.user as { _id?: string } | undefined)?._id
}

/** The account that the owner reaches through a provider that vouches for the mailbox. */
async function provenByProvider(world: World): Promise<string | undefined> {
  const answer = await social(world, 'owner', 'last', 'V', true)
  keep(world, 'owner', answer)
  return (answer.data.user as { _id?: string } | undefined)?._id
}

/** What of the attacker's holdings opens the account with `id`. */
async function openedBy(world: World, id: string): Promise<string | undefined> {
  const held = world.holdings('attacker')
  const identifier = world.address('V')
  const isOpen = ({ data }: Answer) =>
    String((data.user as Fields | undefined)?._id ?? data._id) === id
  const sessions = held.sessions.filter((session) => session.id === id)
  const tries: (readonly [string, () => Promise<boolean>])[] = [
    ...sessions.flatMap(({ token, refreshToken }) => [
      ['a token', async () => isOpen(await world.ask('GET', '/me', undefined, token))] as const,
      [
        'a session',
        async () => isOpen(await world.ask('POST', '/token/refresh', { refreshToken })),
      ] as const,
    ]),
    ...[...held.links].map(
      (link) =>
        [
          `the provider ${link}`,
          async () => isOpen(await social(world, 'attacker', link, 'V')),
        ] as const,
    ),
    ...held.passwords.map(
      (password) =>
        [
          'a password',
          async () => isOpen(await world.ask('POST', '/login', { identifier, password })),
        ] as const,
    ),
    ...world
      .codes('attacker')
      .map(
        (code) =>
          ['an old code', async () => (await reset(world, 'attacker', 'V', code)) === 200] as const,
      ),
    ['a new code', () => newCodeOpens(world)],
  ]
  for (const [what, opens] of tries) if (await opens()) return what
  return undefined
}

/** Whether the attacker gets a code for the account that resets its password. */
async function newCodeOpens(world: World): Promise<boolean> {
  const before = world.codes('attacker').length
  world.later(1000)
  for (const channel of ['email', 'sms']) {
    await world.ask('POST', '/password/forgot', { identifier: world.address('V'), channel })
  }
  for (const code of world.codes('attacker').slice(before)) {
    if ((await reset(world, 'attacker', 'V', code)) === 200) return true
  }
  return false
}

/** Leaves actions out for as long as the invariant stays broken. */
async function shrunk(
  found: Counterexample,
  run: (actions: readonly Action[], proof: Proof) => Promise<string | undefined>,
): Promise<Counterexample> {
  let best = found
  for (let at = 0; at < best.actions.length; ) {
    const actions = best.actions.filter((_, index) => index !== at)
    const broken = await run(actions, best.proof)
    if (broken === undefined) at += 1
    else {
      best = { ...best, actions, broken }
      at = 0
    }
  }
  return best
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
