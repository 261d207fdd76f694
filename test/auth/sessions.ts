/**
 * What must not be left of a session: rounds of the races that end one. A few run with the tests of every store;
 * `FIELDGATE_RUNS=20 node -C fieldgate-source test/auth/sessions.ts [URL of MongoDB]` runs 500 of each kind over two processes.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runs } from '../runs.ts'
import { right } from './peer.ts'
import {
  type Account,
  account,
  all,
  codeFor,
  data,
  one,
  type Peer,
  processOn,
  type Request,
  refresh,
} from './peers.ts'

/** What ends every session that the race knows of. */
export const enders = [
  'sign-out',
  'sign-out everywhere',
  'end of one session',
  'sign-out by an admin',
  'password change',
  'password reset',
  'disabling',
  'deletion',
] as const

/** Races a refresh with what ends the session; gives what still works after both were answered. */
export async function endRound(
  peers: readonly Peer[],
  ender: (typeof enders)[number],
): Promise<string[]> {
  const user = await account(peers)
  const end = await ending(peers, user, ender)
  // Which of the two goes to the peer that is asked first alternates by chance.
  const both = [refresh(user.refreshToken), end]
  const { answers } = await all(peers, Math.random() < 0.5 ? both : both.reverse())
  const heirs = answers.map((answer) => data(answer)).filter((heir) => heir?.refreshToken)
  const refreshTokens = [user.refreshToken, ...heirs.map((heir) => heir.refreshToken)]
  const left = await living(peers, refreshTokens)
  for (const token of [user.token, ...heirs.map((heir) => heir.token)]) {
    const { status } = await one(peers, '/auth/me', undefined, { method: 'GET', token })
    if (status === 200) left.push(`an access token after ${ender}`)
  }
  return left
}

async function ending(
  peers: readonly Peer[],
  { email, refreshToken, token, id }: Account,
  ender: (typeof enders)[number],
): Promise<Request> {
  const newPassword = 'another password'
  switch (ender) {
    case 'sign-out':
      return { path: '/auth/logout', body: { refreshToken } }
    case 'sign-out everywhere':
      return { path: '/auth/logout/all', body: {}, token }
    case 'end of one session':
      return {
        path: `/auth/sessions/${sessionIn(token)}`,
        body: undefined,
        method: 'DELETE',
        token,
      }
    case 'sign-out by an admin':
      return {
        path: `/auth/users/${id}/sessions`,
        body: undefined,
        method: 'DELETE',
        token: await adminOf(peers),
      }
    case 'password change':
      return { path: '/auth/password/change', body: { currentPassword: right, newPassword }, token }
    case 'password reset': {
      const code = await codeFor(peers, email)
      return { path: '/auth/password/reset', body: { identifier: email, code, newPassword } }
    }
    case 'disabling':
      return { path: `/people/${id}`, body: { banned: true }, method: 'PATCH' }
    case 'deletion':
      return { path: `/people/${id}`, body: undefined, method: 'DELETE' }
  }
}

/** The id of the session that an access token belongs to. */
function sessionIn(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid
}

/** The access token of a new admin. */
async function adminOf(peers: readonly Peer[]): Promise<string> {
  const { id, token } = await account(peers)
  await peers[0]?.ask({ requests: [], promote: [id] })
  return token
}

/**
 * Presents a token that was replaced twice and, at the same moment or after it, the session's own; gives what still
 * works afterwards. The peers give no grace.
 */
export async function reuseRound(peers: readonly Peer[], apart: boolean): Promise<string[]> {
  const { email, refreshToken } = await account(peers)
  const login = { email, password: right }
  const other = data(await one(peers, '/auth/login', login)).refreshToken
  const second = data(await all(peers, [refresh(refreshToken)]).then(first)).refreshToken
  const third = data(await all(peers, [refresh(second)]).then(first)).refreshToken
  const used = apart ? [refreshToken] : [refreshToken, third]
  const { answers } = await all(peers, used.map(refresh))
  const heirs = answers.map((answer) => data(answer)?.refreshToken).filter(Boolean)
  const family = [third, ...heirs, second, refreshToken, other]
  const left: string[] = []
  for (const delay of [0, 50, 250]) {
    await wait(delay)
    left.push(...(await living(peers, family)))
  }
  return left
}

function first<T>({ answers }: { answers: readonly T[] }): T | undefined {
  return answers[0]
}

async function living(peers: readonly Peer[], tokens: readonly string[]): Promise<string[]> {
  const { answers } = await all(peers, tokens.map(refresh))
  return answers.filter(({ status }) => status !== 401).map(({ status }) => `refresh: ${status}`)
}

const AT_ONCE = 10

/** Runs a kind of round over and over, and prints how many left something. */
async function many(name: string, rounds: number, round: () => Promise<string[]>): Promise<void> {
  const start = performance.now()
  let broken = 0
  for (let done = 0; done < rounds; done += AT_ONCE) {
    const size = Math.min(AT_ONCE, rounds - done)
    const left = await Promise.all(Array.from({ length: size }, round))
    broken += left.filter((rest) => rest.length > 0).length
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  console.log(`${name.padEnd(28)} ${rounds} rounds, ${broken} broken, ${seconds} s`)
  if (broken > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , url] = process.argv
  const rounds = runs(25)
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-sessions-'))
  const opener = new URL(url ? 'stores/mongodb.ts' : 'stores/sqlite.ts', import.meta.url)
  const start = processOn(opener, url ?? join(folder, 'sessions.db'))
  const peers: Peer[] = []
  const pair = async (graceSeconds: number): Promise<Peer[]> => {
    for (let made = 0; made < 2; made += 1) {
      peers.push(await start({ graceSeconds, maxAttempts: 1_000_000 }))
    }
    return peers.slice(-2)
  }
  try {
    const [strict, graced] = [await pair(0), await pair(10)]
    let turn = 0
    await many('a token used again', rounds, () => {
      turn += 1
      return reuseRound(strict, turn % 2 === 0)
    })
    for (const ender of enders) await many(ender, rounds, () => endRound(graced, ender))
  } finally {
    for (const peer of peers) peer.end()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
