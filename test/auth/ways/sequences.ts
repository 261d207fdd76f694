/**
 * Random sequences of what two people do to accounts, and the invariant: once the owner has proven the mailbox, nothing
 * that the attacker holds opens the account, and the owner always gets to an account of their own.
 *
 * @module
 */

import type { Fields, Store } from '../../../src/index.ts'
import { randomFrom } from '../../random.ts'
import { type Action, act, randomAction, reset, social } from './actions.ts'
import { enter, enterAt, enterByCodes, enterByPasskeys } from './methods.ts'
import { type Answer, openApp, type World } from './world.ts'

const LONGEST = 8
/** More at once would wait for each other, and the app refuses what waits too long. */
const AT_ONCE = 100

/** How the owner proves the mailbox at the end. */
const PROOFS = ['mail', 'provider', 'code', 'openid'] as const
type Proof = (typeof PROOFS)[number]

/** A sequence that broke the invariant, made as short as it gets. */
export interface Counterexample {
  readonly seed: number
  readonly actions: readonly Action[]
  readonly proof: Proof
  readonly broken: string
}

/** What is done, and how the owner proves the mailbox after it. */
interface Sequence {
  readonly actions: readonly Action[]
  readonly proof: Proof
}

/** Runs `count` random sequences; gives the first that breaks the invariant, shrunk. */
export function explore(
  store: Store,
  count: number,
  seed: number,
  more: object = {},
): Promise<Counterexample | undefined> {
  return first(store, count, (at) => [seed + at, sequenceOf(seed + at)], more)
}

/**
 * The same for every account that an attacker can have with the owner's address, every pair of ways into it that they add,
 * and every proof: each `every`-th of them, from the `start`-th.
 */
export function explorePairs(
  store: Store,
  every = 1,
  start = 0,
): Promise<Counterexample | undefined> {
  const all = pairs().filter((_, at) => at % every === start % every)
  return first(store, all.length, (at) => [at, all[at] as Sequence])
}

async function first(
  store: Store,
  count: number,
  sequenceAt: (at: number) => readonly [seed: number, Sequence],
  more: object = {},
): Promise<Counterexample | undefined> {
  const app = await openApp(store, more)
  const run = (actions: readonly Action[], proof: Proof) =>
    app.enter((world) => outcome(world, actions, proof))
  try {
    for (let first = 0; first < count; first += AT_ONCE) {
      const next = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) =>
        sequenceAt(first + at),
      )
      const found = await Promise.all(
        next.map(async ([seed, { actions, proof }]) => {
          const broken = await run(actions, proof)
          return broken === undefined ? undefined : { seed, actions, proof, broken }
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

/** How an attacker gets to an account with an address of the owner, which nobody has proven. */
const STARTS: readonly (readonly Action[])[] = [
  [{ who: 'attacker', do: 'register', ids: ['V'] }],
  [{ who: 'attacker', do: 'register', ids: ['V', 'B'] }],
  [
    { who: 'attacker', do: 'social', with: 'one', verified: false },
    { who: 'attacker', do: 'patch', id: 'V' },
  ],
  [
    { who: 'attacker', do: 'go to', at: 'first', verified: false },
    { who: 'attacker', do: 'patch', id: 'V' },
  ],
  [
    { who: 'attacker', do: 'ask for a code', id: 'A' },
    { who: 'attacker', do: 'use codes', id: 'A' },
    { who: 'attacker', do: 'patch', id: 'V' },
  ],
]

/** What they add to it. */
const ADDED: readonly Action[] = [
  { who: 'attacker', do: 'add', what: 'passkey' },
  { who: 'attacker', do: 'add', what: 'totp' },
  { who: 'attacker', do: 'add', what: 'key' },
  { who: 'attacker', do: 'change password' },
  { who: 'attacker', do: 'social', with: 'two', email: 'V', verified: false },
  { who: 'attacker', do: 'go to', at: 'second', email: 'V', verified: false },
  { who: 'attacker', do: 'forgot', id: 'V', channel: 'email' },
  { who: 'attacker', do: 'ask for a code', id: 'V' },
  { who: 'attacker', do: 'login', id: 'V' },
]

function pairs(): readonly Sequence[] {
  return STARTS.flatMap((start) =>
    ADDED.flatMap((one) =>
      ADDED.filter((other) => other !== one).flatMap((other) =>
        PROOFS.map((proof) => ({ actions: [...start, one, other], proof })),
      ),
    ),
  )
}

/** The sequence of a seed. */
function sequenceOf(seed: number): Sequence {
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
  const id = await prove[proof](world)
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
  const login = { identifier: world.address('V'), password }
  return accountIn(await enter(world, 'owner', await world.ask('POST', '/login', login)))
}

/** The account that the owner reaches by a code that signs in. */
async function provenByCode(world: World): Promise<string | undefined> {
  const before = world.codes('owner').length
  await world.ask('POST', '/login/code', { identifier: world.address('V') })
  const codes = world.codes('owner').slice(before)
  return (await enterByCodes(world, 'owner', 'V', codes)).map(accountIn).find(Boolean)
}

const prove: Readonly<Record<Proof, (world: World) => Promise<string | undefined>>> = {
  mail: provenByMail,
  code: provenByCode,
  provider: async (world) => accountIn(await social(world, 'owner', 'last', 'V', true)),
  openid: async (world) => accountIn(await enterAt(world, 'owner', 'last', 'V', true)),
}

/** The account that an answer opens. */
function accountIn({ data }: Answer): string | undefined {
  const id = (data.user as Fields | undefined)?._id ?? data._id
  return id === undefined ? undefined : String(id)
}

/** What of the attacker's holdings opens the account with `id`. */
async function openedBy(world: World, id: string): Promise<string | undefined> {
  const held = world.holdings('attacker')
  const identifier = world.address('V')
  const isOpen = (answer: Answer) => accountIn(answer) === id
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
    ...[...held.places].map(
      (place) =>
        [
          `the OpenID provider ${place}`,
          async () => isOpen(await enterAt(world, 'attacker', place, 'V')),
        ] as const,
    ),
    ...held.keys.map(
      (key) =>
        [
          'a key',
          async () => isOpen(await world.ask('GET', '/things/me', undefined, key)),
        ] as const,
    ),
    ['a passkey', async () => (await enterByPasskeys(world, 'attacker')).some(isOpen)],
    [
      'a code that signs in',
      async () =>
        (await enterByCodes(world, 'attacker', 'V', world.codes('attacker'))).some(isOpen),
    ],
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
  await world.ask('POST', '/login/code', { identifier: world.address('V') })
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
