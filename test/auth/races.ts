/**
 * What must hold when requests meet: the same suite for every store.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../runs.ts'
import { adminRound, endings } from './admins.ts'
import { type PeerOptions, right } from './peer.ts'
import {
  account,
  all,
  codeFor,
  count,
  data,
  one,
  type Peer,
  type Request,
  refresh,
} from './peers.ts'
import { enders, endRound, reuseRound } from './sessions.ts'

/** Registers the suite for a store; two peers at a time share it. */
export function races(name: string, start: (options: PeerOptions) => Promise<Peer>): void {
  describe(name, () => {
    const graced: Peer[] = []
    const strict: Peer[] = []
    /** Between the two steps of a change of the secret: each signs with another one. */
    const rotating: Peer[] = []

    beforeAll(async () => {
      // One after the other: the first makes the tables.
      for (let peers = 0; peers < 2; peers += 1) {
        graced.push(await start({ graceSeconds: 10, maxAttempts: 1_000_000 }))
        strict.push(await start({ graceSeconds: 0, maxAttempts: 10 }))
        const secrets = [
          'the older of two secrets, 32 characters',
          'the newer of two secrets, 32 characters',
        ]
        if (peers > 0) secrets.reverse()
        rotating.push(await start({ graceSeconds: 10, maxAttempts: 10, secrets }))
      }
    })

    afterAll(() => {
      for (const peer of [...graced, ...strict, ...rotating]) peer.end()
    })

    const times = (length: number, request: (index: number) => Request) =>
      Array.from({ length }, (_, index) => request(index))

    it('of 50 refreshes of one token with grace 0 one succeeds, and nothing of that family works after', async () => {
      const { refreshToken } = await account(strict)
      const { answers } = await all(
        strict,
        times(50, () => refresh(refreshToken)),
      )
      expect([count(answers, 200), count(answers, 401)]).toEqual([1, 49])
      const heir = data(answers.find(({ status }) => status === 200)).refreshToken
      expect((await one(strict, '/auth/token/refresh', { refreshToken: heir })).status).toBe(401)
    })

    it('50 refreshes of one token within the grace all get the one successor', async () => {
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

    it('refreshes of one token get one successor while the secret is replaced, and each access token opens', async () => {
      for (let round = 0; round < runs(2); round += 1) {
        const { refreshToken } = await account(rotating)
        const { answers } = await all(
          rotating,
          times(20, () => refresh(refreshToken)),
        )
        expect(new Set(answers.map((answer) => data(answer)?.refreshToken)).size).toBe(1)
        const { answers: seen } = await all(
          rotating,
          answers.map((answer) => ({
            path: '/auth/me',
            body: undefined,
            method: 'GET',
            token: data(answer).token,
          })),
        )
        expect(count(seen, 200)).toBe(20)
        const heir = data(answers[0]).refreshToken
        const { answers: next } = await all(
          rotating,
          times(4, () => refresh(heir)),
        )
        expect(count(next, 200)).toBe(4)
      }
    })

    it('of 60 wrong guesses at once ten are evaluated, and ten more at most once one is right', async () => {
      const guesses = async (rightAt?: number) => {
        const { email } = await account(strict)
        return all(
          strict,
          times(60, (index) => ({
            path: '/auth/login',
            body: { email, password: index === rightAt ? right : 'wrong' },
          })),
        )
      }
      const wrong = await guesses()
      expect([wrong.evaluated, count(wrong.answers, 401)]).toEqual([10, 60])
      const { answers, evaluated } = await guesses(40)
      const successes = count(answers, 200)
      expect(successes + count(answers, 401)).toBe(60)
      expect(successes).toBeLessThanOrEqual(1)
      // A sign-in clears the count.
      expect(evaluated).toBeLessThanOrEqual(10 + 10 * successes)
    })

    it('of 120 wrong passwords at once a hundred are evaluated, and no right one after them', async () => {
      const { email } = await account(graced)
      const login = (password: string): Request => ({
        path: '/auth/login',
        body: { email, password },
      })
      const { answers, evaluated } = await all(
        graced,
        times(120, () => login('wrong')),
      )
      expect([evaluated, count(answers, 401)]).toEqual([100, 120])
      expect((await one(graced, '/auth/login', login(right).body)).status).toBe(401)
    })

    it('of 100 wrong codes at once at most five are evaluated, and then the right one is refused', async () => {
      const { email } = await account(graced)
      const code = await codeFor(graced, email)
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

    it('of 20 right codes at once one sets the password', async () => {
      const { email } = await account(graced)
      const code = await codeFor(graced, email)
      const { answers } = await all(
        graced,
        times(20, (index) => ({
          path: '/auth/password/reset',
          body: { identifier: email, code, newPassword: `password number ${index}` },
        })),
      )
      expect([count(answers, 200), count(answers, 400)]).toEqual([1, 19])
    })

    it.each(endings)('of admins who end each other by %s exactly one remains', async (ending) => {
      for (let round = 0; round < runs(4); round += 1) {
        const ended = await adminRound(graced, round % 4 === 3 ? 5 : 2, ending)
        expect(ended).toEqual({ fewest: 1, left: 1, failures: [] })
      }
    })

    it('of 50 sign-ups with one address one succeeds', async () => {
      const spellings = ['Race', 'race', ' RACE']
      const { answers } = await all(
        graced,
        times(50, (index) => ({
          path: '/auth/register',
          body: {
            email: `${spellings[index % 3]}.${process.pid}@example.com`,
            password: right,
          },
        })),
      )
      expect([count(answers, 201), count(answers, 409)]).toEqual([1, 49])
    })

    it('first sign-ins at once through a provider are one account, and never a 409', async () => {
      for (let round = 0; round < runs(5); round += 1) {
        const card = `card${round}.${process.pid}`
        const body = { card, email: `${card}@example.com` }
        const { answers } = await all(
          graced,
          times(5, () => ({ path: '/auth/social/card', body })),
        )
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
        expect(new Set(answers.map((answer) => data(answer).user._id)).size).toBe(1)
      }
    })

    it('of 20 sign-ins at once five sessions live', async () => {
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

    it.each(enders)('once the %s was answered, no older session works', async (ender) => {
      for (let round = 0; round < runs(2); round += 1)
        expect(await endRound(graced, ender)).toEqual([])
    })

    it('once a token was used again nothing of its session works, nor any other of the user', async () => {
      const rounds = [true, false].map((apart) => reuseRound(strict, apart))
      expect((await Promise.all(rounds)).flat()).toEqual([])
    })

    it('a sign-in with the old password opens nothing after the change was answered', async () => {
      for (let round = 0; round < runs(3); round += 1) {
        const { email, token } = await account(graced)
        const { answers } = await all(graced, [
          {
            path: '/auth/password/change',
            body: { currentPassword: right, newPassword: 'another password' },
            token,
          },
          // With five more sessions, the one that changes the password could be the oldest, and end first.
          ...times(4, () => ({ path: '/auth/login', body: { email, password: right } })),
        ])
        expect(answers[0]?.status).toBe(200)
        const opened = answers
          .filter(({ body }) => body.data !== undefined)
          .map((answer) => data(answer).refreshToken)
        const { answers: after } = await all(graced, opened.map(refresh))
        expect(count(after, 200)).toBe(0)
      }
    })
  })
}
