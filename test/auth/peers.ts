/**
 * Peers: apps that share a store, and what tests of races ask of them.
 *
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import type { Store } from '../../src/index.ts'
import { programOf } from '../services/program.ts'
import { type Ask, createPeer, type Done, type PeerOptions, right, type Task } from './peer.ts'

/** An app on the store under test. */
export interface Peer {
  readonly ask: Ask
  end(): void
}

/** Starts a peer as a process of its own, on the store that `open(place)` of the module `opener` gives. */
export function processOn(opener: URL, place: string): (options: PeerOptions) => Promise<Peer> {
  return async (options) => {
    const program = programOf(new URL('peer-process.ts', import.meta.url))
    const store = basename(opener.pathname, '.ts')
    const peer = fork(program, [store, place, JSON.stringify(options)], {
      execArgv: ['--no-warnings'],
    })
    await once(peer, 'message')
    const asked: ((done: Done) => void)[] = []
    peer.on('message', ({ id, done }: { id: number; done: Done }) => asked[id]?.(done))
    return {
      ask: (task) => new Promise((resolve) => peer.send({ id: asked.push(resolve) - 1, task })),
      end: () => peer.disconnect(),
    }
  }
}

/** Starts a peer in this process, on a store of its own over the same data. */
export function appOn(open: () => Store): (options: PeerOptions) => Promise<Peer> {
  return async (options) => {
    const store = open()
    return { ask: await createPeer(store, options), end: () => void store.close() }
  }
}

/** What a peer is asked. */
export type Request = Task['requests'][number]
/** What it answers. */
export type Reply = Done['answers'][number]

/** An account and its first session. */
export interface Account {
  readonly email: string
  readonly token: string
  readonly refreshToken: string
  readonly id: string
}

let accounts = 0

/** Half of the requests to either peer, all at once. */
export async function all(
  peers: readonly Peer[],
  requests: readonly Request[],
): Promise<{ answers: Reply[]; evaluated: number; admins: number }> {
  const done = await Promise.all(
    peers.map((peer, part) =>
      peer.ask({ requests: requests.filter((_, index) => index % peers.length === part) }),
    ),
  )
  return {
    answers: done.flatMap(({ answers }) => answers),
    evaluated: done.reduce((sum, { evaluated }) => sum + evaluated, 0),
    admins: done[0]?.admins ?? 0,
  }
}

/** Asks the first peer for one thing. */
export async function one(
  peers: readonly Peer[],
  path: string,
  body?: unknown,
  more: Partial<Request> = {},
): Promise<Reply> {
  const { answers } = await all(peers.slice(0, 1), [{ path, body, ...more }])
  return answers[0] as Reply
}

/** A new account. */
export async function account(peers: readonly Peer[]): Promise<Account> {
  accounts += 1
  const email = `user${accounts}.${process.pid}@example.com`
  const { token, refreshToken, user } = data(
    await one(peers, '/auth/register', { email, password: right }),
  )
  return { email, token, refreshToken, id: user._id }
}

/** The code that is sent to `email`. */
export async function codeFor(peers: readonly Peer[], email: string): Promise<string> {
  const forgot = { path: '/auth/password/forgot', body: { identifier: email } }
  const done = await peers[0]?.ask({ requests: [forgot] })
  return done?.sent.findLast(({ to }) => to === email)?.code ?? ''
}

/** A refresh. */
export function refresh(refreshToken: string): Request {
  return { path: '/auth/token/refresh', body: { refreshToken } }
}

/** How many answers have a status. */
export function count(answers: readonly Reply[], status: number): number {
  return answers.filter((answer) => answer.status === status).length
}

/** The sign-in data of an answer. */
export function data(reply: Reply | undefined): {
  token: string
  refreshToken: string
  user: { _id: string }
} {
  return reply?.body.data as never
}
