/**
 * Sign-in codes as they are stored: one for each account, or for each address that has none yet. As with the codes that
 * reset a password, another request within the window sends the same code, so that a flood of requests neither gives
 * more tries nor ends the code that the user is typing; and clients that the account knows have tries of their own.
 */

import { date, maxLength, number, string } from 'zod/mini'
import type { Accounts, SentCode } from '../../auth/setup/method.ts'
import { sameText } from '../../http/base64url.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import { sweep } from '../../model/own-records.ts'
import { all, type Filter, is } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { MethodRecords } from '../method-model.ts'

export interface PendingCode {
  readonly key: string
  readonly state: string
  readonly code: string
  readonly sentAt: Date
  readonly expiresAt: Date
}

const DAY_MS = 86_400_000
const MAX_SWEPT = 3
/** What is later by more than this was written by a clock that was ahead: it holds up no other code. */
const CLOCK_MS = 3_600_000

export class Pending {
  readonly #accounts: Accounts
  readonly #records: MethodRecords<PendingCode>

  constructor(accounts: Accounts) {
    this.#accounts = accounts
    this.#records = new MethodRecords(accounts, 'SignInCode', {
      fields: {
        key: string().check(maxLength(1000)),
        state: string(),
        code: string(),
        attempts: number(),
        knownAttempts: number(),
        sentAt: date(),
        expiresAt: date(),
      },
      unique: ['key'],
      indexes: ['expiresAt'],
    })
  }

  /** Removes codes of long ago, those of addresses without an account too. It is done for everybody, because it takes time. */
  sweep(): Promise<void> {
    return sweep(this.#records.stored, this.#accounts.now() - DAY_MS, MAX_SWEPT)
  }

  /** What is pending for `person`; looked up for everybody, because it takes time. */
  async of(person: Fields | undefined): Promise<PendingCode | undefined> {
    return this.#records.first(keyed(person ? keyOf(person) : ''))
  }

  /**
   * The code to send to `user`, for whom `before` is pending; undefined during the pause between two codes,
   * `otp.resendSeconds`. Costs two writes, as a request of which nothing is sent.
   */
  async issue(user: Fields, before: PendingCode | undefined): Promise<SentCode | undefined> {
    const { now, otp, codeState, newId, pretendWrite } = this.#accounts
    const key = keyOf(user)
    const at = now()
    const rested = at - otp.resendSeconds * 1000
    const within = (time: Date, from: number, to: number) =>
      time.getTime() > from && time.getTime() <= to + CLOCK_MS
    if (before && otp.resendSeconds > 0 && within(before.sentAt, rested, at)) return undefined
    const most = at + otp.ttlSeconds * 1000
    const open = before && within(before.expiresAt, at, most) ? before : undefined
    const state = codeState(user)
    // The code that was handed over for this state.
    const sent = open?.state === state ? await this.#open(open) : undefined
    const code = sent ?? newCode(otp.length)
    const expiresAt = open?.expiresAt ?? new Date(most)
    const set = {
      ...{ key, state, expiresAt, sentAt: new Date(at) },
      code: await this.#accounts.encrypt(code, key),
      ...(!open && { attempts: 0, knownAttempts: 0 }),
    }
    const expect = { sentAt: before?.sentAt }
    const isStored =
      (before && (await this.#records.stored.update(keyed(key), { set }, { expect }))) ||
      // One that is over may just have been swept. An open one that is gone was used, and stays so.
      (!open && (await this.#records.add({ _id: newId(), ...set })))
    // Another request is sending one at this moment.
    if (!isStored) return undefined
    await pretendWrite()
    const takeBack = async () => {
      // One that was handed over before stays good. The tries stay counted.
      const change = { set: { sentAt: new Date(0), ...(sent === undefined && { state: '' }) } }
      await this.#records.stored.update(keyed(key), change, { expect: { sentAt: set.sentAt } })
    }
    return { code, expiresAt, takeBack }
  }

  /**
   * Uses the code of `user` up: resolves to what makes it good again, if it served for nothing; to undefined if it is wrong.
   * Each try is counted before it is compared, and costs one write for everybody.
   */
  async use(
    user: Fields | undefined,
    typed: string,
    request: ApiRequest,
  ): Promise<(() => Promise<void>) | undefined> {
    const { now, otp, codeState, isKnown, pretendWrite } = this.#accounts
    const key = user ? keyOf(user) : ''
    const field = user && isKnown(user, request) ? 'knownAttempts' : 'attempts'
    const pending = all([
      keyed(key),
      is('state', user ? codeState(user) : ''),
      { op: 'gt', field: 'expiresAt', value: new Date(now()) },
      { op: 'lt', field, value: otp.maxAttempts },
    ])
    // A write that matches nothing takes another time than one that does: read first, and write elsewhere if so.
    const before = await this.of(user)
    const mayTry =
      before !== undefined &&
      before.expiresAt.getTime() > now() &&
      Number((before as unknown as Fields)[field]) < otp.maxAttempts
    const change = { increment: { [field]: 1 } }
    const tried = mayTry ? await this.#records.stored.update(pending, change) : null
    if (!tried) await pretendWrite()
    const stored = (tried ?? { key: '', code: '' }) as unknown as PendingCode
    const isRight = sameText(typed.trim(), (await this.#open(stored)) ?? '')
    if (!tried || !isRight) return undefined
    const used = await this.#records.stored.delete(all([keyed(key), is('code', stored.code)]))
    if (!used) return undefined
    // With the tries that were counted meanwhile, but not this one. A new code that was asked for since stays.
    const again = { ...used, [field]: Number(used[field]) - 1 }
    return async () => void (await this.#records.add(again))
  }

  async forget(userId: string): Promise<void> {
    await this.#records.stored.delete(keyed(keyOf({ _id: userId })))
  }

  #open({ code, key }: Pick<PendingCode, 'code' | 'key'>): Promise<string | undefined> {
    return this.#accounts.decrypt(code, key)
  }
}

/** An account by its id; who has none yet, by what they are to be. */
function keyOf({ _id, ...newcomer }: Fields): string {
  return _id === undefined ? JSON.stringify(newcomer) : String(_id)
}

function keyed(key: string): Filter {
  return is('key', key)
}

/** Every code is equally likely: numbers beyond the last whole multiple are drawn again. */
function newCode(length: number): string {
  const many = 10n ** BigInt(length)
  const most = 2n ** 64n - (2n ** 64n % many)
  for (;;) {
    const [number = most] = crypto.getRandomValues(new BigUint64Array(1))
    if (number < most) return String(number % many).padStart(length, '0')
  }
}
