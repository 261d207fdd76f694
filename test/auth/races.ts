/**
 * What must hold when requests meet: the same suite for every store, over two processes that share it.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Done, Task } from './peer.ts'

/** A store that two processes open. */
export interface SharedStore {
  readonly name: string
  /** A module whose `open(place)` gives the store. */
  readonly opener: URL
  /** A new, empty place for a suite. */
  place(): Promise<string>
}

type Request = Task['requests'][number]
type Reply = Done['answers'][number]

const right = 'the right password'
let accounts = 0

/** Registers the suite for `store`. */
export function races({ name, opener, place }: SharedStore): void {
  describe(`two processes on ${name}`, () => {
    const graced: ChildProcess[] = []
    const strict: ChildProcess[] = []

    beforeAll(async () => {
      const at = await place()
      // One after the other: the first makes the tables.
      for (const [group, grace, attempts] of [
        [graced, '10', '1000000'],
        [graced, '10', '1000000'],
        [strict, '0', '10'],
        [strict, '0', '10'],
      ] as const) {
        const peer = fork(
          fileURLToPath(new URL('peer.ts', import.meta.url)),
          [fileURLToPath(opener), at, grace, attempts],
          {
            execArgv: ['--no-warnings'],
          },
        )
        group.push(peer)
        await once(peer, 'message')
      }
    })

    afterAll(() => {
      for (const peer of [...graced, ...strict]) if (peer.connected) peer.disconnect()
    })

    /** Half of the requests to either process, all at once. */
    async function all(
      peers: ChildProcess[],
      requests: Request[],
    ): Promise<{ answers: Reply[]; evaluated: number }> {
      const halves = peers.map((_, half) =>
        requests.filter((__, index) => index % peers.length === half),
      )
      const done = await Promise.all(
        peers.map(async (peer, half) => {
          const reply = once(peer, 'message')
          peer.send({ requests: halves[half] ?? [] } satisfies Task)
          return ((await reply) as [Done])[0]
        }),
      )
      return {
        answers: done.flatMap(({ answers }) => answers),
        evaluated: done.reduce((sum, { evaluated }) => sum + evaluated, 0),
      }
    }
    const one = async (
      peers: ChildProcess[],
      path: string,
      body: unknown,
      token?: string,
    ): Promise<Reply> => {
      const { answers } = await all(
        [peers[0] as ChildProcess],
        [{ path, body, ...(token !== undefined && { token }) }],
      )
      return answers[0] as Reply
    }
    const times = (count: number, request: (index: number) => Request) =>
      Array.from({ length: count }, (_, index) => request(index))
    const count = (answers: readonly Reply[], status: number) =>
      answers.filter((answer) => answer.status === status).length
    const data = (reply: Reply | undefined) =>
      reply?.body.data as { token: string; refreshToken: string; user: { _id: string } }

    async function account(
      peers: ChildProcess[],
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
      const forgot = await one(graced, '/auth/password/forgot', { identifier: email })
      expect(forgot.status).toBe(200)
      const reset = (code: string): Request => ({
        path: '/auth/password/reset',
        body: { identifier: email, code, newPassword: 'a guessed password' },
      })
      // Every code of a range: if more than five were evaluated, the tries left would tell.
      const { answers } = await all(
        graced,
        times(100, (index) => reset(String(index).padStart(6, '0'))),
      )
      expect(count(answers, 200) <= 1 && count(answers, 400) >= 99).toBe(true)
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
      for (let round = 0; round < 10; round += 1) {
        const { refreshToken, token } = await account(graced)
        const enders: Request[] = [
          { path: '/auth/logout', body: { refreshToken } },
          { path: '/auth/logout/all', body: {}, token },
          {
            path: '/auth/password/change',
            body: { currentPassword: right, newPassword: 'another password' },
            token,
          },
        ]
        const { answers } = await all(graced, [refresh(refreshToken), enders[round % 3] as Request])
        const heir = answers.find(({ body }) => (body.data as Reply | undefined) !== undefined)
        for (const old of [refreshToken, heir && data(heir).refreshToken]) {
          if (old)
            expect((await one(graced, '/auth/token/refresh', { refreshToken: old })).status).toBe(
              401,
            )
        }
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
