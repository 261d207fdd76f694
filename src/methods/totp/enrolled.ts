/** Authenticator apps as they are stored, one record for each account. Each use is one conditional write. */

import { array, boolean, maxLength, number, object, optional, string } from 'zod/mini'
import type { Accounts } from '../../auth/setup/method.ts'
import { all, type Filter, is, withId } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { MethodRecords } from '../method-model.ts'
import { newRecoveryCode, stepOf } from './codes.ts'

interface Stored {
  readonly _id: string
  readonly secret: string
  readonly era: string
  readonly step: number
  readonly codes: readonly { readonly seal: string }[]
  /** Set while it is being removed; one whose removal was cut off serves on until it is removed again. */
  readonly ends?: boolean | null
}

const RECOVERY_CODES = 10
/** Parallel uses of different recovery codes overtake each other. */
const MAX_TRIES = 20

/** No code is right any more, and the user is told no more than of a wrong one. */
const UNREADABLE =
  "an authenticator app can't be read: 'token.secret' lacks the one it was set up under"

export class Enrolled {
  readonly #accounts: Accounts
  readonly records: MethodRecords<Stored>

  constructor(accounts: Accounts) {
    this.#accounts = accounts
    this.records = new MethodRecords(accounts, 'Totp', {
      fields: {
        owner: string().check(maxLength(1000)),
        secret: string(),
        era: string(),
        step: number(),
        codes: array(object({ seal: string() })),
        ends: optional(boolean()),
      },
      timestamps: { updatedAt: false },
      unique: ['owner'],
    })
  }

  /** That of `user`; undefined if they have none. */
  async of(user: Fields): Promise<Stored | undefined> {
    const stored = await this.records.first(ownedBy(user))
    return stored?.era === this.#accounts.era(user) ? stored : undefined
  }

  /** The id of that of `user`, if it has so many recovery codes; with `stays`, if it is not being removed. */
  async idOf(user: Fields, stays = false, codes = 0): Promise<string | false> {
    const stored = await this.of(user)
    const isThere = stored && stored.codes.length >= codes && !(stays && stored.ends)
    return isThere ? stored._id : false
  }

  /** Stores a secret whose code of `step` was right: the recovery codes; undefined if the user has one already. */
  async enrol(user: Fields, secret: string, step: number): Promise<readonly string[] | undefined> {
    const { newId, now, era, encrypt } = this.#accounts
    const { codes, seals } = this.#newCodes(user)
    const record = {
      _id: newId(),
      owner: String(user._id),
      secret: await encrypt(secret, String(user._id), 'model'),
      ...{ era: era(user), step, codes: seals, createdAt: new Date(now()) },
    }
    for (let tries = 0; tries < 2; tries += 1) {
      if (await this.records.add({ ...record })) return codes
      if (await this.of(user)) return undefined
      // One from before a takeover.
      const dead: Filter = { op: 'ne', field: 'era', value: record.era }
      await this.records.stored.delete(all([ownedBy(user), dead]))
    }
    return undefined
  }

  /** Uses a code of the app up: no step is accepted twice, nor one before it. */
  async useCode(user: Fields, code: string): Promise<boolean> {
    const stored = await this.of(user)
    if (!stored) return false
    const { decrypt, encrypt, now, logger } = this.#accounts
    const plain = await decrypt(stored.secret, String(user._id))
    if (!plain) logger.warn(UNREADABLE, { userId: user._id })
    const step = plain && (await stepOf(plain, code, now()))
    if (!plain || step === undefined) return false
    const before: Filter = { op: 'lt', field: 'step', value: step }
    // Under the first secret of the app: it may have been under an older one.
    const secret = await encrypt(plain, String(user._id), 'model')
    const own = all([withId(stored._id), before])
    return (await this.records.stored.update(own, { set: { step, secret } })) !== null
  }

  async useRecoveryCode(user: Fields, code: string): Promise<boolean> {
    const text = this.#sealed(user, code)
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = await this.of(user)
      const used = stored?.codes.find(({ seal }) => this.#accounts.isSealed(seal, text))
      if (!stored || !used) return false
      const set = { codes: stored.codes.filter((one) => one !== used) }
      const expect = { codes: stored.codes }
      if (await this.records.stored.update(withId(stored._id), { set }, { expect })) return true
    }
    return false
  }

  /** New recovery codes in place of those before; undefined if `user` has no app set up. */
  async replaceCodes(user: Fields): Promise<readonly string[] | undefined> {
    const stored = await this.of(user)
    const { codes, seals } = this.#newCodes(user)
    const set = { codes: seals }
    const after = stored && (await this.records.stored.update(withId(stored._id), { set }))
    return after ? codes : undefined
  }

  /** Removes it; false if there is none. Throws a 409 if the user's role needs a factor and has no other. */
  async remove(user: Fields): Promise<boolean> {
    const stored = await this.of(user)
    const check = () => this.#accounts.checkFactorLeft(user)
    return stored !== undefined && this.records.remove(withId(stored._id), check)
  }

  #newCodes(user: Fields) {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
    const { seal } = this.#accounts
    const seals = codes.map((code) => ({ seal: seal(this.#sealed(user, code), 'model') }))
    return { codes, seals }
  }

  /** However the code was typed. */
  #sealed(user: Fields, code: string): string {
    const normal = code.toLowerCase().replace(/[^a-z2-7]/g, '')
    return JSON.stringify(['recovery', String(user._id), normal])
  }
}

function ownedBy({ _id }: Fields): Filter {
  return is('owner', String(_id))
}
