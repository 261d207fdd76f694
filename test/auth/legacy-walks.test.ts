import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Fields } from '../../src/index.ts'
import { type OldSession, oldSession, refreshedThere } from './old-service.ts'
import { service } from './service.ts'

const OLD = 'the secret of the old service, from its environment'
const GRACE_MS = 10_000

/** A refresh token that either service has given, in the order in which they were given. */
interface Given {
  readonly text: string
  readonly isOwn: boolean
  /** When either service has replaced it, by a refresh with any token. */
  replacedAt?: number
  /** Whether it was replaced here. */
  replacedHere?: boolean
}

type Step =
  | { readonly do: 'refresh' | 'sign out'; readonly where: 'here' | 'there'; readonly back: number }
  | { readonly do: 'forge'; readonly back: number; readonly at: number; readonly out: boolean }
  | { readonly do: 'wait'; readonly seconds: number }

const back = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(1), fc.nat(6))
const where = fc.constantFrom('here' as const, 'there' as const)
const refreshes = fc.record({ do: fc.constant('refresh' as const), where, back })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: refreshes },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(1, 4, 9, 10, 900),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sign out' as const), where, back }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('forge' as const),
      back,
      at: fc.nat(200),
      out: fc.boolean(),
    }),
  },
)

/** One user with a session that walks over both services, and another session that only a reuse ends. */
class Walk {
  readonly given: Given[] = []
  readonly #rotate: boolean
  readonly #app: Awaited<ReturnType<typeof service>>
  readonly #userId: string
  readonly #reported = () => this.#app.log.filter((line) => line.includes('token-reused')).length

  static async start(rotate: boolean): Promise<Walk> {
    const auth = { legacyTokens: { secret: OLD }, refresh: { enabled: true, rotate } }
    const app = await service({ auth })
    const { user } = await app.register('ann@example.com')
    const [first, other] = [
      oldSession(OLD, user._id, app.now()),
      oldSession(OLD, user._id, app.now()),
    ]
    const refreshTokens = [first, other].map(({ session: { _id, ...stored } }) => stored)
    await app.users.update(user._id, { refreshTokens } as never)
    return new Walk(app, user._id, rotate, first.refreshToken)
  }

  constructor(
    app: Awaited<ReturnType<typeof service>>,
    userId: string,
    rotate: boolean,
    text: string,
  ) {
    this.#app = app
    this.#userId = userId
    this.#rotate = rotate
    this.given.push({ text, isOwn: false })
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'wait') this.#app.later(step.seconds)
    else if (step.do === 'forge') await this.#forge(step)
    else if (step.do === 'sign out') await this.#signOut(step.where, this.#at(step.back))
    else if (step.where === 'here') await this.#refreshHere(this.#at(step.back))
    else await this.#refreshThere(this.#at(step.back))
  }

  /** Whoever holds the newest token goes on, unless the session has ended. */
  async end(): Promise<void> {
    if (await this.#session()) await this.#refreshHere(this.#at(0))
  }

  #at(steps: number): Given {
    return this.given[Math.max(0, this.given.length - 1 - steps)] as Given
  }

  async #sessions(): Promise<OldSession[]> {
    return (await this.#app.stored(this.#userId)).refreshTokens as OldSession[]
  }

  async #session(): Promise<OldSession | undefined> {
    const id = this.given[0]?.text.split('.')[1]
    return (await this.#sessions()).find((session) => session.id === id)
  }

  #isPastGrace({ replacedAt }: Given): boolean {
    return replacedAt !== undefined && this.#app.now() >= replacedAt + GRACE_MS
  }

  #give(text: string, replacedHere: boolean): void {
    const newest = this.#at(0)
    if (text === newest.text) return
    expect(this.given.map((one) => one.text)).not.toContain(text)
    Object.assign(newest, { replacedAt: this.#app.now(), replacedHere })
    this.given.push({ text, isOwn: text.includes('~') })
  }

  async #refreshHere(token: Given): Promise<void> {
    const [before, reported, user] = [
      await this.#session(),
      this.#reported(),
      await this.#app.stored(this.#userId),
    ]
    const { status, body } = await this.#app.post('/auth/token/refresh', {
      refreshToken: token.text,
    })
    const steps = this.given.length - 1 - this.given.indexOf(token)
    const isKept = !this.#rotate && !token.isOwn && token.replacedHere === true && steps === 1
    expect([200, 401]).toContain(status)
    const note = `${steps} steps behind, ${token.isOwn ? 'own' : 'legacy'}, ${status}`
    if (!before) {
      expect(status, note).toBe(401)
      expect(await this.#app.stored(this.#userId), note).toEqual(user)
      return
    }
    // The newest token, and within the grace the one before it, always lead on.
    if (steps === 0 || (steps === 1 && !this.#isPastGrace(token))) expect(status, note).toBe(200)
    // What either service has replaced is worth nothing after the grace.
    if (this.#isPastGrace(token) && !isKept) expect(status, note).toBe(401)
    if (status === 200) {
      // Nobody gets anything but the session's newest token.
      this.#give(body.data.refreshToken as string, true)
      expect(this.#reported(), note).toBe(reported)
    } else await this.#refused(token, user, reported, note)
  }

  async #refused(token: Given, user: Fields, reported: number, note: string): Promise<void> {
    const isGone = (await this.#sessions()).length === 0
    expect(this.#reported() - reported, note).toBe(isGone ? 1 : 0)
    if (!isGone) expect(await this.#app.stored(this.#userId), note).toEqual(user)
    if (this.#isTheft(token)) expect(isGone, note).toBe(true)
    if (this.#wasJustMixed()) expect(isGone, note).toBe(false)
  }

  /** Whether a token that is refused must end the sessions: it is one that fieldgate knows, and was not just replaced. */
  #isTheft(token: Given): boolean {
    const swapped = this.given.findLast((one) => !one.isOwn && one.replacedHere)
    const isKnown = token.isOwn || token === swapped || token === this.#at(1)
    return this.#isPastGrace(token) && isKnown && !this.#wasJustMixed()
  }

  /** Whether the last change may have met one of the other service. */
  #wasJustMixed(): boolean {
    const [last, before] = [this.#at(0), this.#at(1)]
    return !(last.isOwn && before.isOwn) && !this.#isPastGrace(before)
  }

  async #refreshThere(token: Given): Promise<void> {
    const session = await this.#session()
    if (token.isOwn || !session) return
    const [who, id, random = ''] = token.text.split('.')
    const next = refreshedThere(OLD, session, random, this.#app.now())
    const sessions = await this.#sessions()
    const changed = sessions.map((one) => (one.id === id ? { ...one, ...next?.changes } : one))
    await this.#app.users.update(this.#userId, { refreshTokens: next ? changed : [] } as never)
    if (next) this.#give(`${who}.${id}.${next.random}`, false)
  }

  async #signOut(where: 'here' | 'there', token: Given): Promise<void> {
    const before = await this.#sessions()
    if (where === 'there') {
      const kept = before.filter(({ id }) => id !== token.text.split('.')[1])
      await this.#app.users.update(this.#userId, { refreshTokens: kept } as never)
      return
    }
    const had = await this.#session()
    await this.#app.post('/auth/logout', { refreshToken: token.text })
    const [after, has] = [await this.#sessions(), await this.#session()]
    // Nobody signs another session out.
    expect(after.length).toBe(before.length - (had && !has ? 1 : 0))
    if (token === this.#at(0)) expect(has).toBeUndefined()
    const isKept = !this.#rotate && !token.isOwn && token === this.#at(1)
    if (this.#isPastGrace(token) && !isKept) expect(has).toEqual(had)
  }

  async #forge({ back: steps, at, out }: Step & { do: 'forge' }): Promise<void> {
    const { text } = this.#at(steps)
    const place = at % text.length
    const forged = text.slice(0, place) + (text[place] === 'A' ? 'E' : 'A') + text.slice(place + 1)
    const before = await this.#app.stored(this.#userId)
    const path = out ? '/auth/logout' : '/auth/token/refresh'
    const { status } = await this.#app.post(path, { refreshToken: forged })
    expect(status).toBe(out ? 200 : 401)
    expect(await this.#app.stored(this.#userId)).toEqual(before)
  }
}

it.each([true, false])(
  'sessions walk over the old service and fieldgate as one, whatever is sent and when: rotate %s',
  async (rotate) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const walk = await Walk.start(rotate)
        for (const one of steps) await walk.take(one)
        await walk.end()
      }),
      { numRuns: 60 },
    )
  },
  60_000,
)
