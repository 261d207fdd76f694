/** Passkeys as they are stored. */

import { array, boolean, date, maxLength, number, optional, string } from 'zod/mini'
import type { Accounts } from '../../../src/auth/setup/method.ts'
import { MethodRecords } from '../../../src/methods/method-model.ts'
import { all, type Filter, is, nothing, withId } from '../../../src/ports/store/filter.ts'
import type { Fields } from '../../../src/ports/store/records.ts'

/** What a registration gives. */
export interface NewKey {
  readonly credentialId: string
  readonly publicKey: string
  /** 0 for keys that don't count. */
  readonly counter: number
  /** Whether it is kept on several devices. */
  readonly synced: boolean
  readonly transports: readonly string[]
}

export type Asserted = Pick<NewKey, 'counter' | 'synced'>

export interface Passkey extends NewKey {
  readonly _id: string
  readonly owner: string
  readonly name: string
  readonly era: string
  readonly createdAt: Date
  readonly lastUsedAt?: Date | null
  /** Set while it is being removed; one whose removal was cut off serves on until it is removed again. */
  readonly ends?: boolean | null
}

export class Passkeys {
  readonly #accounts: Accounts
  readonly records: MethodRecords<Passkey>

  constructor(accounts: Accounts) {
    this.#accounts = accounts
    this.records = new MethodRecords(accounts, 'Passkey', {
      fields: {
        owner: string().check(maxLength(1000)),
        // A credential's id has at most 1,023 bytes.
        credentialId: string().check(maxLength(1364)),
        publicKey: string(),
        counter: number(),
        synced: boolean(),
        transports: array(string()),
        name: string(),
        era: string(),
        lastUsedAt: optional(date()),
        ends: optional(boolean()),
      },
      timestamps: { updatedAt: false },
      unique: ['credentialId'],
      indexes: ['owner'],
    })
  }

  /** Those of `user`, the newest first. */
  async of(user: Fields): Promise<readonly Passkey[]> {
    return (await this.records.of(String(user._id))).filter((key) => this.isLive(key, user))
  }

  isLive({ era }: Passkey, user: Fields): boolean {
    return era === this.#accounts.era(user)
  }

  /** The ids of those of `user`, empty if there are none; with `stays`, of those that are not being removed. */
  async idsOf(user: Fields, stays = false): Promise<string> {
    const counted = (await this.of(user)).filter(({ ends }) => !stays || !ends)
    return counted.map(({ _id }) => _id).join()
  }

  async byCredential(credential: unknown): Promise<Passkey | undefined> {
    const { id } = (credential ?? {}) as { readonly id?: unknown }
    return this.records.first(is('credentialId', typeof id === 'string' ? id : ''))
  }

  /** Stores a new one; undefined if some account has it. */
  async add(user: Fields, name: string, key: NewKey): Promise<Passkey | undefined> {
    const { newId, now, era } = this.#accounts
    const own = { _id: newId(), owner: String(user._id), name, era: era(user) }
    const passkey: Passkey = { ...own, ...key, createdAt: new Date(now()) }
    return (await this.records.add({ ...passkey })) ? passkey : undefined
  }

  /** Notes a use; false if its count is not higher than the last one: then there may be a copy of the key. */
  async use({ _id }: Passkey, { counter, synced }: Asserted): Promise<boolean> {
    const higher: Filter =
      counter === 0 ? is('counter', 0) : { op: 'lt', field: 'counter', value: counter }
    const set = { counter, synced, lastUsedAt: new Date(this.#accounts.now()) }
    const filter = all([withId(_id), higher])
    return (await this.records.stored.update(filter, { set })) !== null
  }

  /** Renames one of `user`; null if they have none with that id. */
  async rename(user: Fields, id: string, name: string): Promise<Passkey | null> {
    const set = { name }
    return (await this.records.stored.update(this.#own(user, id), { set })) as Passkey | null
  }

  /** Removes one of `user`; false if they have none with that id. Throws a 409 for the last way into the account. */
  async remove(user: Fields, id: string): Promise<boolean> {
    return this.records.remove(this.#own(user, id), async () => {
      await this.#accounts.checkWayLeft(user)
      await this.#accounts.checkFactorLeft(user)
    })
  }

  /** The one with that id, if it opens the account of `user`. */
  #own(user: Fields, id: string): Filter {
    if (!/^[0-9a-f]{24}$/.test(id)) return nothing
    return all([withId(id), is('owner', String(user._id)), is('era', this.#accounts.era(user))])
  }
}
