/**
 * What must hold when requests meet: the same suite for every store.
 *
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store } from '../../src/index.ts'
import { type Ask, createPeer, type Done, type PeerOptions, right, type Task } from './peer.ts'

/** An app on the store under test. */
export interface Peer {
  readonly ask: Ask
  end(): void
}

/** Starts a peer as a process of its own, on the store that `open(place)` of the module `opener` gives. */
export function processOn(opener: URL, place: string): (options: PeerOptions) => Promise<Peer> {
  const program = fileURLToPath(new URL('peer-process.ts', import.meta.url))
  return async (options) => {
    const peer = fork(program, [fileURLToPath(opener), place, JSON.stringify(options)], {
      execArgv: ['--no-warnings'],
    })
    await once(peer, 'message')
    return {
      async ask(task) {
        const reply = once(peer, 'message')
        peer.send(task)
        return ((await reply) as [Done])[0]
      },
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

type Request = Task['requests'][number]
type Reply = Done['answers'][number]

let accounts = 0

/** Registers the suite for a store; two peers at a time share it. */
export function races(name: string, start: (options: PeerOptions) => Promise<Peer>): void {
  describe(name, () => {
    const graced: Peer[] = []
    const strict: Peer[] = []

    beforeAll(async () => {
      // One after the other: the first makes the tables.
      for (let peers = 0; peers < 2; peers += 1) {
        graced.push(await start({ graceSeconds: 10, maxAttempts: 1_000_000 }))
        strict.push(await start({ graceSeconds: 0, maxAttempts: 10 }))
      }
    })

    afterAll(() => {
      for (const peer of [...graced, ...strict]) peer.end()
    })

    /** Half of the requests to either peer, all at once. */
    async function all(
      peers: Peer[],
      requests: Request[],
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
    const one = async (
      peers: Peer[],
      path: string,
      body: unknown,
      token?: string,
    ): Promise<Reply> => {
      const { answers } = await all(peers.slice(0, 1), [
        { path, body, ...(token !== undefined && { token }) },
      ])
      return answers[0] as Reply
    }
    const times = (count: number, request: (index: number) => Request) =>
      Array.from({ length: count }, (_, index) => request(index))
    const count = (answers: readonly Reply[], status: number) =>
      answers.filter((answer) => answer.status === status).length
    const data = (reply: Reply | undefined) =>
      reply?.body.data as { token: string; refreshToken: string; user: { _id: string } }

    async function account(
      peers: Peer[],
    ): Promise<{ email: string; token: string; refreshToken: string; id: string }> {
      accounts += 1
      const email = `user${accounts}.${process.pid}@example.com`
      const { token, refreshToken, user } = data(
        await one(peers, '/auth/register', { email, password: right }),
      )
      return { email, token, refreshToken, id: user._id }
    }
    const refresh = (refreshToken: string): Request => ({
      path: '/auth/token/refresh',
      body: { refreshToken },
    })

    it('B1: of 50 refreshes of one token with grace 0 one succeeds, and nothing of that family works after', async () => {
      const { refreshToken } = await account(strict)
      const { answers } = await all(
        strict,
        times(50, () => refresh(refreshToken)),
      )
      expect([count(answers, 200), count(answers, 401)]).toEqual([1, 49])
      const heir = data(answers.find(({ status }) => status === 200)).refreshToken
      expect((await one(strict, '/auth/token/refresh', { refreshToken: heir })).status).toBe(401)
    })

    it('B2: 50 refreshes of one token within the grace all get the one successor', async () => {
      const { refreshToken } = await account(graced)
      const { answers } = await all(
        graced,
        times(50, () => refresh(refreshToken)),
      )
      expect(count(answers, 200)).toBe(50)
      const heirs = new Set(answers.map((answer) => data(answer).refreshToken))
      expect(heirs.size).toBe(1)
      expect(
        (await one(graced, '/auth/token/refresh', { refreshToken: [...heirs][0] })).status,
      ).toBe(200)
    })

    it('C2: of 200 guesses at once, one of them right, at most ten are evaluated', async () => {
      const { email } = await account(strict)
      const { answers, evaluated } = await all(
        strict,
        times(200, (index) => ({
          path: '/auth/login',
          body: { email, password: index === 150 ? right : 'wrong' },
        })),
      )
      expect(evaluated).toBeLessThanOrEqual(10)
      expect(count(answers, 200) + count(answers, 401)).toBe(200)
      expect(count(answers, 200)).toBeLessThanOrEqual(1)
    })

    it('C3: of 100 wrong codes at once at most five are evaluated, and then the right one is refused', async () => {
      const { email } = await account(graced)
      const [first] = graced
      const forgot = { path: '/auth/password/forgot', body: { identifier: email } }
      const code = (await first?.ask({ requests: [forgot] }))?.codes.at(-1) ?? ''
      const reset = (guess: string): Request => ({
        path: '/auth/password/reset',
        body: { identifier: email, code: guess, newPassword: 'a guessed password' },
      })
      const wrong = code === '000000' ? '000001' : '000000'
      const { answers } = await all(graced, [...times(100, () => reset(wrong)), reset(code)])
      // The right one is the last: were more than five evaluated, it would be.
      expect(count(answers, 400)).toBe(101)
      expect((await one(graced, '/auth/password/reset', reset(code).body)).status).toBe(400)
    })

    it('C3: of 20 right codes at once one sets the password', async () => {
      const { email } = await account(graced)
      const [first] = graced
      const forgot = { path: '/auth/password/forgot', body: { identifier: email } }
      const code = (await first?.ask({ requests: [forgot] }))?.codes.at(-1) ?? ''
      const { answers } = await all(
        graced,
        times(20, (index) => ({
          path: '/auth/password/reset',
          body: { identifier: email, code, newPassword: `password number ${index}` },
        })),
      )
      expect([count(answers, 200), count(answers, 400)]).toEqual([1, 19])
    })

    it('E4: of two admins who demote each other one remains', async () => {
      for (let round = 0; round < 10; round += 1) {
        const [one, two] = [await account(graced), await account(graced)]
        const demote = (id: string, token: string): Request => ({
          path: `/auth/users/${id}/roles`,
          body: { role: 'user' },
          token,
          method: 'PATCH',
        })
        await graced[0]?.ask({ requests: [], promote: [one.id, two.id] })
        await all(graced, [demote(two.id, one.token), demote(one.id, two.token)])
        const after = await graced[0]?.ask({ requests: [] })
        expect(after?.admins).toBeGreaterThanOrEqual(1)
        // Whoever is left goes, so that the next round begins with its own two.
        await graced[0]?.ask({ requests: [], demoteAll: true })
      }
    })

    it('E5: of 50 sign-ups with one address one succeeds', async () => {
      accounts += 1
      const spellings = ['Race', 'race', ' RACE']
      const { answers } = await all(
        graced,
        times(50, (index) => ({
          path: '/auth/register',
          body: {
            email: `${spellings[index % 3]}${accounts}.${process.pid}@example.com`,
            password: right,
          },
        })),
      )
      expect([count(answers, 201), count(answers, 409)]).toEqual([1, 49])
    })

    it('B8: of 20 sign-ins at once five sessions live', async () => {
      const { email } = await account(graced)
      const { answers } = await all(
        graced,
        times(20, () => ({ path: '/auth/login', body: { email, password: right } })),
      )
      expect(count(answers, 200)).toBe(20)
      const after = await all(
        graced,
        answers.map((answer) => refresh(data(answer).refreshToken)),
      )
      expect(count(after.answers, 200)).toBe(5)
    })

    it('B6: once a sign-out or a password change was answered, no older session works', async () => {
      for (let round = 0; round < 9; round += 1) {
        const { refreshToken, token } = await account(graced)
        const change = { currentPassword: right, newPassword: 'another password' }
        const enders: Request[] = [
          { path: '/auth/logout', body: { refreshToken } },
          { path: '/auth/logout/all', body: {}, token },
          { path: '/auth/password/change', body: change, token },
        ]
        const { answers } = await all(graced, [refresh(refreshToken), enders[round % 3] as Request])
        const heirs = answers
          .filter(({ body }) => body.data !== undefined)
          .map((heir) => data(heir))
        const old = [refreshToken, ...heirs.map((heir) => heir.refreshToken)]
        const { answers: after } = await all(graced, old.map(refresh))
        expect(count(after, 401)).toBe(old.length)
      }
    })

    it('a sign-in with the old password opens nothing after the change was answered', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { email, token } = await account(graced)
        const { answers } = await all(graced, [
          {
            path: '/auth/password/change',
            body: { currentPassword: right, newPassword: 'another password' },
            token,
          },
          ...times(5, () => ({ path: '/auth/login', body: { email, password: right } })),
        ])
        const opened = answers
          .filter(({ body }) => body.data !== undefined)
          .map((answer) => data(answer).refreshToken)
        const { answers: after } = await all(graced, opened.map(refresh))
        expect(count(after, 200)).toBe(0)
      }
    })
  })
}
