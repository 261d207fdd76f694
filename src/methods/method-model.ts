/** The models of methods, and what is kept by them. */

import type { Accounts } from '../auth/setup/method.ts'
import { invalidFields } from '../http/errors/refusals.ts'
import { defineModel, type ModelDefinition } from '../model/define.ts'
import type { FieldSchemas, Model } from '../model/model.ts'
import { insertOnce, unlessTaken } from '../model/own-records.ts'
import { firstIn } from '../ports/evaluation/walk.ts'
import { type Filter, is } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import type { Collection } from '../ports/store/store.ts'
import { madeOnce } from '../ports/values/once.ts'

const modelsOf = madeOnce((_: Model) => new Map<string, Model>())

/**
 * A model for what a method keeps of the accounts of `user`: `UserToken` for the name `Token`. All auth routers of one user
 * model share it.
 */
export function methodModel<const S extends FieldSchemas>(
  user: Model,
  name: string,
  definition: ModelDefinition<S>,
): Model {
  const models = modelsOf(user)
  const own =
    models.get(name) ?? (defineModel(`${user.name}${name}`, definition) as unknown as Model)
  models.set(name, own)
  return own
}

/** The most records that a method may keep of an account. */
export const MOST_RECORDS = 1000

/** The records of a method, each a `T` of the account in `owner`. */
export class MethodRecords<T> {
  readonly stored: Collection
  readonly #own: (owner: string) => Filter

  /** `own` finds those of an account. */
  constructor(
    accounts: Accounts,
    name: string,
    definition: ModelDefinition<FieldSchemas>,
    own = (owner: string): Filter => is('owner', owner),
  ) {
    this.stored = accounts.collection(methodModel(accounts.model, name, definition))
    this.#own = own
  }

  async first(filter: Filter): Promise<T | undefined> {
    return (await firstIn(this.stored, filter)) as T | undefined
  }

  /** Those of an account, the newest first. */
  async of(owner: string): Promise<T[]> {
    const filter = this.#own(owner)
    const found = await this.stored.find({ filter, sort: [], limit: MOST_RECORDS })
    return found.toSorted((a, b) => Number(b.createdAt) - Number(a.createdAt)) as T[]
  }

  /** Stores one; false if what must be unique is taken. */
  async add(record: Fields): Promise<boolean> {
    return insertOnce(this.stored, record)
  }

  /** Changes one that fits; false if there is none, or if what must be unique is taken. */
  async change(filter: Filter, set: Fields): Promise<boolean> {
    return Boolean(await unlessTaken(() => this.stored.update(filter, { set })))
  }

  /**
   * Removes one that `own` matches; false if there is none. It is marked first: of two that are removed at once, neither
   * counts for the other. `check` throws if too little is left: both may be refused, but one stays.
   */
  async remove(own: Filter, check: () => Promise<void>): Promise<boolean> {
    if (!(await this.stored.update(own, { set: { ends: true } }))) return false
    try {
      await check()
    } catch (error) {
      await this.stored.update(own, { unset: ['ends'] })
      throw error
    }
    return (await this.stored.delete(own)) !== null
  }

  async forget(owner: string): Promise<void> {
    while (await this.stored.delete(this.#own(owner)));
  }
}

/** The JSON that was encrypted as a ticket; undefined if it is none, or was good `until` a time that is over. */
export async function ticketIn<T>(
  { decrypt, now }: Accounts,
  ticket: unknown,
  bound: string,
): Promise<(T & { readonly until: number }) | undefined> {
  const text = await decrypt(ticket, bound)
  const value = text === undefined ? undefined : JSON.parse(text)
  return value && value.until > now() ? value : undefined
}

/** What a user calls one of their records. Throws a 400. */
export function nameIn(value: unknown): string {
  const name = typeof value === 'string' ? value.trim() : ''
  if (!name.isWellFormed()) throw invalidFields({ name: 'Invalid Unicode text.' })
  if (name !== '' && name.length <= 100) return name
  throw invalidFields({ name: 'Required, at most 100 characters.' })
}
