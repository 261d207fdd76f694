/**
 * How well the time of a response tells what account there is: the AUC of a class of accounts against those with a wrong
 * password, 0.5 where it tells nothing.
 *
 * @module
 */

import { Authenticator } from '../methods/authenticator.ts'
import { CLIENT, credentialOf, emailOf, type Kind } from './accounts.ts'

/** Asks the app for something that the request needs, such as a ticket: its `data`. */
export type Need = (path: string, body: object) => Promise<Needed>

interface Needed {
  readonly ticket: string
  readonly publicKey: { readonly challenge: string }
  /** A code of somebody at a provider that says this address is theirs, but not that it has verified it. */
  readonly code: string
  /** A wrong key with the id of one of the account's, or of nobody's. */
  readonly key: string
}

/** A request to measure: its path and body, for each kind of account, and perhaps a token. */
interface Route {
  readonly path: string
  readonly body: (email: string, need: Need) => object | Promise<object>
  readonly token?: (email: string, need: Need) => Promise<string>
  /** The kinds that must look alike; the first is what the others are compared with. */
  readonly kinds: readonly Kind[]
}

const all: readonly Kind[] = ['known', 'unknown', 'locked', 'disabled', 'social']

/** The routes that take an identifier of somebody who need not be signed in. */
export const TIMED: readonly Route[] = [
  {
    path: 'login',
    body: (identifier) => ({ identifier, password: 'a wrong password' }),
    kinds: [...all, 'seen', 'ended'],
  },
  {
    // Only among its 409s: that an address is free, a registration has to tell.
    path: 'register',
    body: (email) => ({ email, password: 'correct horse battery' }),
    kinds: all.filter((kind) => kind !== 'unknown'),
  },
  {
    path: 'password/forgot',
    body: (identifier) => ({ identifier }),
    kinds: [...all, 'asked'],
  },
  {
    path: 'password/reset',
    body: (identifier) => ({ identifier, code: '000000', newPassword: 'staple battery horse' }),
    kinds: [...all, 'asked'],
  },
  {
    path: 'email/code',
    body: (identifier) => ({ identifier }),
    kinds: [...all, 'asked'],
  },
  {
    path: 'email/verify',
    body: (identifier) => ({ identifier, otp: '000000' }),
    kinds: [...all, 'asked'],
  },
  {
    path: 'login/code',
    body: (identifier) => ({ identifier }),
    kinds: [...all, 'asked'],
  },
  {
    path: 'login?code',
    body: (identifier) => ({ identifier, otp: '000000' }),
    kinds: [...all, 'asked'],
  },
  {
    // A passkey of the account, and another key's signature.
    path: 'login/passkey',
    async body(email, need) {
      const { ticket, publicKey } = await need('login/passkey/options', {})
      const credential = await another.get({ ...publicKey, rpId: 'example.com' })
      const id = credentialOf(email)
      return { ticket, credential: { ...credential, id, rawId: id } }
    },
    kinds: all,
  },
  {
    // Only among its 409s: an address that nobody has vouched for makes an account without it.
    path: 'login/oidc',
    body: async (email, need) => ({ code: (await need('../prepared', { email })).code }),
    kinds: [...all, 'asked', 'seen', 'ended'].filter((kind): kind is Kind => kind !== 'unknown'),
  },
  {
    path: '../things',
    body: () => ({}),
    token: async (email, need) => (await need('../prepared', { email })).key,
    kinds: all,
  },
]

const another = new Authenticator()

/** Sends a POST from `client` and reads the response. */
export type Send = (
  path: string,
  body: object,
  client: string,
  token?: string,
) => Promise<{ readonly status: number; readonly text: string }>

/** What was seen of one kind of account at one route. */
export interface Seen {
  readonly route: string
  readonly kind: Kind
  /** Milliseconds. */
  readonly median: number
  readonly reference: number
  readonly auc: number
}

/** Requests for each kind that are not counted, while code is compiled. */
const WARM_UP = 2

/** Measures a route with `rounds` requests for each kind. Throws when the responses themselves differ. */
export async function measure(
  { path, body, token, kinds }: Route,
  send: Send,
  rounds: number,
  restore: () => Promise<void>,
): Promise<Seen[]> {
  const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
  const answers = new Set<string>()
  const need: Need = async (at, given) =>
    (JSON.parse((await send(at, given, CLIENT)).text) as { data: Needed }).data
  for (let round = -WARM_UP; round < rounds; round += 1) {
    if (round % 50 === 0) await restore()
    for (const kind of shuffled(kinds)) {
      const sent = await body(emailOf(kind), need)
      const bearer = await token?.(emailOf(kind), need)
      const start = performance.now()
      const { status, text } = await send(path, sent, CLIENT, bearer)
      const time = performance.now() - start
      answers.add(`${status} ${text.replace(/"requestId":"[^"]*"/, '')}`)
      if (round >= 0) times.get(kind)?.push(time)
    }
  }
  if (answers.size !== 1)
    throw new Error(`${path} tells accounts apart: ${[...answers].join(' | ')}`)
  const [first, ...others] = kinds
  const known = times.get(first as Kind) ?? []
  return others.map((kind) => {
    const own = times.get(kind) ?? []
    return {
      route: path,
      kind,
      median: median(own),
      reference: median(known),
      auc: auc(own, known),
    }
  })
}

/** The kinds in another order each time, so that none always follows the same other. */
function shuffled(kinds: readonly Kind[]): Kind[] {
  return kinds
    .map((kind) => [Math.random(), kind] as const)
    .sort(([a], [b]) => a - b)
    .map(([, kind]) => kind)
}

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** The probability that one of `a` is above one of `b` (Mann-Whitney). */
function auc(a: readonly number[], b: readonly number[]): number {
  const ranked = [
    ...a.map((value) => ({ value, mine: true })),
    ...b.map((value) => ({ value, mine: false })),
  ].sort((x, y) => x.value - y.value)
  const ranks = ranked.reduce((sum, { mine }, index) => (mine ? sum + index + 1 : sum), 0)
  return (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length)
}

/** A line of a table. */
export function line({ route, kind, median, reference, auc }: Seen): string {
  return [
    route.padEnd(16),
    kind.padEnd(9),
    `${median.toFixed(3)} ms`.padStart(11),
    `wrong password ${reference.toFixed(3)} ms`.padStart(26),
    `AUC ${auc.toFixed(3)}`,
  ].join(' ')
}
