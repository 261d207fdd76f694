/**
 * Rounds in which every admin ends every other one at the same moment.
 *
 * @module
 */

import { right } from './peer.ts'
import { type Account, account, type Peer, type Reply, type Request } from './peers.ts'

/** How an admin ends another one. */
export const endings = ['demotion', 'deletion', 'either'] as const

type Ending = (typeof endings)[number]

/** What a round has come to. */
export interface Ended {
  /** The fewest admins that any peer saw meanwhile. */
  readonly fewest: number
  /** How many are left. */
  readonly left: number
  /** The responses that are neither a success nor a refusal of one who comes second. */
  readonly failures: readonly Reply[]
}

const EXPECTED = [200, 400, 401, 403, 404, 409]

/** Lets `size` new admins end each other, and with deletions themselves; no admin is left over for the next round. */
export async function adminRound(
  peers: readonly Peer[],
  size: number,
  ending: Ending,
): Promise<Ended> {
  const admins: Account[] = []
  while (admins.length < size) admins.push(await account(peers))
  await peers[0]?.ask({ requests: [], promote: admins.map(({ id }) => id) })
  const requests = shuffled(
    admins.flatMap((by) => admins.flatMap((whom) => endingOf(by, whom, ending))),
  )
  const done = await Promise.all(
    peers.map((peer, part) =>
      peer.ask({
        requests: requests.filter((_, at) => at % peers.length === part),
        watch: true,
      }),
    ),
  )
  const left = (await peers[0]?.ask({ requests: [] }))?.admins ?? 0
  await peers[0]?.ask({ requests: [], demoteAll: true })
  return {
    fewest: Math.min(left, ...done.map(({ fewest }) => fewest)),
    left,
    failures: done.flatMap(({ answers }) => answers.filter(isFailure)),
  }
}

function isFailure({ status }: Reply): boolean {
  return !EXPECTED.includes(status)
}

function endingOf(by: Account, whom: Account, ending: Ending): Request | [] {
  const isDeletion = ending === 'either' ? Math.random() < 0.5 : ending === 'deletion'
  const isOwn = by === whom
  const { token } = by
  if (isDeletion) {
    const body = isOwn ? { currentPassword: right } : {}
    return { path: `/auth/users/${whom.id}`, method: 'DELETE', body, token }
  }
  const body = { role: 'user' }
  return isOwn ? [] : { path: `/auth/users/${whom.id}/roles`, method: 'PATCH', body, token }
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
