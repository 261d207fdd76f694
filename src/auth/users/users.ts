/** The records of users: how they are found, written and shown, and what their fields mean. */

import { idFrom, idMaker } from '../../model/cast.ts'
import type { Model } from '../../model/model.ts'
import { declaredPart, present, projected } from '../../model/present.ts'
import { all, type Filter, withId } from '../../ports/filter.ts'
import type { Change, Fields, Projection } from '../../ports/store.ts'
import type { Author } from '../../records/engine/author.ts'
import type { RecordEngine } from '../../records/engine/record-engine.ts'
import { SECRETS, type StoredName, type StoredNames } from '../setup/field-names.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** The users of one auth router. */
export class Users {
  readonly engine: RecordEngine
  readonly model: Model
  readonly names: StoredNames
  /** The stored field that blocks a sign-in, if there is one. */
  readonly disabledField: string | undefined
  /** The accounts that may sign in; undefined if that is all of them. */
  readonly enabled: Filter | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly #settings: AuthSettings
  readonly #makeId: ReturnType<typeof idMaker>
  readonly #withoutSecrets: Projection
  readonly #isLean: boolean

  constructor(engine: RecordEngine, settings: AuthSettings, now: () => number) {
    const { model, names, disabledField, list } = settings
    this.engine = engine
    this.#settings = settings
    this.model = model
    this.names = names
    this.disabledField = disabledField
    this.enabled = disabledField ? { op: 'ne', field: disabledField, value: true } : undefined
    this.now = now
    this.#makeId = idMaker(now)
    this.#withoutSecrets = { exclude: [...model.hidden, ...SECRETS.map((name) => names[name])] }
    this.#isLean = list.lean === true
  }

  /** The same users, whose writes `author` does; `this`, if the model's changes are not logged. */
  as(author: Author): Users {
    const engine = this.engine.as(author)
    return engine === this.engine ? this : new Users(engine, this.#settings, this.now)
  }

  /** Whether the model declares a field. */
  has(name: StoredName): boolean {
    return this.model.shape.fields.has(this.names[name])
  }

  /** Those of `fields`, by their stored names, that the model declares. */
  declared(fields: readonly string[]): string[] {
    return fields.filter((field) => this.model.shape.fields.has(field))
  }

  /** The id of a new user. */
  async newId(): Promise<string> {
    return (await this.engine.stored.newId?.()) ?? this.#makeId(this.model.idType)
  }

  /** The user with that id, secrets included. */
  byId(id: unknown): Promise<Fields | undefined> {
    return this.engine.first(withId(String(id)))
  }

  /** The user whose id stands in a token. */
  async byToken(id: string): Promise<Fields | undefined> {
    const known = idFrom(id, this.model.idType)
    return known === undefined ? undefined : this.byId(known)
  }

  /** The user with `value` in a unique field. */
  by(field: string, value: string): Promise<Fields | undefined> {
    return this.engine.first({ op: 'eq', field, value })
  }

  /** One conditional write: the user after it; null if a condition does not hold. */
  update(
    id: unknown,
    change: Change,
    expect: Fields = {},
    filter?: Filter,
  ): Promise<Fields | null> {
    const byId = withId(String(id))
    return this.engine.stored.update(filter ? all([byId, filter]) : byId, change, { expect })
  }

  /** A user's record without its secrets, and without what the model does not declare. */
  withoutSecrets(record: Fields): Fields {
    const select = this.#withoutSecrets
    // Left out first: what is not shown need not be looked through.
    return declaredPart(this.model, projected(record, select), { select })
  }

  /** A user as responses show it, or the part that `select` names. */
  shown(record: Fields, select?: Projection): unknown {
    return present(this.model, projected(this.withoutSecrets(record), select), this.#isLean)
  }

  /** Whether the account may not sign in. */
  isDisabled(user: Fields): boolean {
    return this.disabledField !== undefined && user[this.disabledField] === true
  }

  /** When the password was last changed, in epoch milliseconds; 0 for never. */
  changedAt(user: Fields): number {
    const value = user[this.names.passwordChangedAt]
    return value instanceof Date ? value.getTime() : 0
  }

  /** The time of a password change made now: later than the last one, even if the clock has not advanced. */
  nextChange(user: Fields): Date {
    return new Date(Math.max(this.now(), this.changedAt(user) + 1))
  }

  /** What a step must expect that relies on the password of `user`, or on a token from before its next change. */
  passwordState(user: Fields): Fields {
    const { password, passwordChangedAt } = this.names
    return { [password]: user[password], [passwordChangedAt]: user[passwordChangedAt] }
  }
}

/** Whether a stored date is after `at` (epoch milliseconds); false if it is not a date. */
export function isAfter(date: unknown, at: number): boolean {
  return date instanceof Date && date.getTime() > at
}
