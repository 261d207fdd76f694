/** The records of users: how they are found, written and shown, and what their fields mean. */

import { causeOf, outageIn } from '../../http/errors/outages.ts'
import type { Model } from '../../model/model.ts'
import { insertOnce } from '../../model/own-records.ts'
import { idFrom, idMaker } from '../../model/values/cast.ts'
import { declaredPart, present } from '../../model/versions/present.ts'
import type { Logger } from '../../ports/services/logger.ts'
import { all, any, everything, type Filter, withId } from '../../ports/store/filter.ts'
import { project } from '../../ports/store/projection.ts'
import type { Fields, Projection } from '../../ports/store/records.ts'
import type { Change, Collection } from '../../ports/store/store.ts'
import type { Author } from '../../records/engine/author.ts'
import { holds } from '../../records/engine/known-updates.ts'
import type { RecordEngine } from '../../records/engine/record-engine.ts'
import { SECRETS, type StoredName, type StoredNames } from '../setup/field-names.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** A conditional write to a user: what it changes, and what must be true of the record at that moment. */
export interface Write extends Change {
  readonly expect?: Fields
  readonly filter?: Filter | undefined
}

const CHANGES = ['set', 'unset', 'increment', 'push', 'pull'] as const

function changeIn(write: Write): Change {
  const change: Record<string, object> = {}
  for (const name of CHANGES) {
    const part = write[name]
    if (part && Object.keys(part).length > 0) change[name] = part
  }
  return change
}

/** The write of `value` to a field of `user` that is still as it was read. */
export function replacing(
  user: Fields,
  field: string,
  value: unknown,
): Record<'set' | 'expect', Fields> {
  return { set: { [field]: value }, expect: { [field]: user[field] } }
}

/** One write that does what all of `parts` do, and expects what all of them expect. */
export function together(...parts: readonly (Write | undefined)[]): Write {
  const unset: string[] = []
  const joined = { set: {}, increment: {}, push: {}, pull: {}, expect: {}, unset }
  let filter: Filter | undefined
  for (const part of parts) {
    if (!part) continue
    for (const name of ['set', 'increment', 'push', 'pull', 'expect'] as const) {
      Object.assign(joined[name], part[name])
    }
    unset.push(...(part.unset ?? []))
    if (part.filter) filter = filter ? all([filter, part.filter]) : part.filter
  }
  return { ...joined, filter }
}

export class Users {
  readonly engine: RecordEngine
  readonly settings: AuthSettings
  readonly model: Model
  readonly names: StoredNames
  /** The fields that no response shows. */
  readonly hidden: readonly string[]
  /** The accounts that may sign in; undefined if that is all of them. */
  readonly enabled: Filter | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly #makeId: ReturnType<typeof idMaker>
  readonly #withoutSecrets: Projection

  constructor(engine: RecordEngine, settings: AuthSettings, now: () => number) {
    const { model, names, disabledField } = settings
    this.engine = engine
    this.settings = settings
    this.model = model
    this.names = names
    this.enabled = disabledField ? { op: 'ne', field: disabledField, value: true } : undefined
    this.now = now
    this.#makeId = idMaker(now)
    const secrets = SECRETS.map((name) => names[name])
    this.hidden = [...new Set([...model.hidden, ...this.declared(secrets)])]
    // Also those that the model does not declare: another version may have stored them.
    this.#withoutSecrets = { exclude: [...model.hidden, ...secrets] }
  }

  /** The same users, whose writes `author` does; `this`, if the model's changes are not logged. */
  as(author: Author): Users {
    const engine = this.engine.as(author)
    return engine === this.engine ? this : new Users(engine, this.settings, this.now)
  }

  has(name: StoredName): boolean {
    return this.model.shape.fields.has(this.names[name])
  }

  /** Those of `fields` that the model has. */
  declared(fields: readonly string[]): string[] {
    return fields.filter((field) => this.model.shape.fields.has(field))
  }

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

  async by(field: string, value: string): Promise<Fields | undefined> {
    const found = await this.engine.first({ op: 'eq', field, value })
    // A collation of MongoDB finds what is only alike, which is somebody else's.
    return found?.[field] === value ? found : undefined
  }

  /**
   * One conditional write: the user after it; null if a condition does not hold. A write of nothing is a read: hooks may have
   * changed the record since, so what it expects must still be true.
   */
  async update(id: unknown, write: Write): Promise<Fields | null> {
    const { expect = {}, filter } = write
    const own = filter ? all([withId(String(id)), filter]) : withId(String(id))
    const change = changeIn(write)
    if (Object.keys(change).length > 0) return this.engine.stored.update(own, change, { expect })
    const now = await this.engine.first(own)
    return now && holds(now, expect) ? now : null
  }

  /**
   * Writes what `plan` makes of the record, anew as long as others write first, at most `most` times: the user after it, and
   * what was written. Undefined if the plan is none, or the account is gone.
   */
  async rewrite<W extends Write>(
    user: Fields,
    most: number,
    plan: (read: Fields, round: number) => W | undefined,
  ): Promise<{ readonly after: Fields; readonly written: W } | undefined> {
    let read: Fields | undefined = user
    for (let round = 1; read && round <= most; round += 1) {
      const written = plan(read, round)
      if (!written) return undefined
      const after = await this.update(user._id, written)
      if (after) return { after, written }
      read = await this.byId(user._id)
    }
    return undefined
  }

  /** A user's record without its secrets, and without what the model does not declare. */
  withoutSecrets(record: Fields): Fields {
    const select = this.#withoutSecrets
    // Left out first: what is not shown need not be looked through.
    return declaredPart(this.model, project(record, select), { select })
  }

  /** A user as responses show it, or the part that `select` names. */
  shown(record: Fields, select?: Projection): unknown {
    const shown = this.withoutSecrets(record)
    const { lean } = this.settings.list
    return present(this.model, select ? project(shown, select) : shown, lean === true)
  }

  isDisabled(user: Fields): boolean {
    const { disabledField } = this.settings
    return disabledField !== undefined && user[disabledField] === true
  }

  /**
   * Ends the sessions (`noSessions`) in the same write that disables an account, no matter which route or code of this app makes
   * it; and tokens, pending codes and second steps, which are bound to the time of the last password change. No sign-in gets
   * in between: a later one finds the account disabled. A new account begins an era of its own: what methods have kept of
   * an earlier one with its id, which was removed, or is being restored, does not open it.
   */
  markWrites(noSessions: Fields): void {
    const { engine, names, now } = this
    const { refresh, methods, disabledField } = this.settings
    let last = 0
    engine.writeAlong((changes, isNew) => {
      const [era] = isNew && methods.length > 0 ? crypto.getRandomValues(new Uint32Array(1)) : []
      if (era !== undefined) return { [names.takeovers]: era }
      if (isNew || disabledField === undefined || changes[disabledField] !== true) return {}
      // Later than the last one: a token or key from between two in one millisecond would be taken for one from after them.
      last = Math.max(now(), last + 1)
      const at = new Date(last)
      const ended = { ...(refresh && noSessions), [names.passwordChangedAt]: at }
      return this.has('keysEndedAt') ? { ...ended, [names.keysEndedAt]: at } : ended
    })
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

/**
 * One write like a write to an account; similar to `like` if given. It is made where a known account would be written and
 * this one is not, so that timing does not reveal who has an account. A database that finds nothing to change replies
 * sooner, so it really changes something: records as large as accounts, in a collection with their schema.
 *
 * Measured on SQLite in a file with 380 wrong passwords of each kind: an unknown account is told from a known one with an AUC
 * of 0.48 with these writes, which is chance, and of 0.37 without.
 */
export type DummyWrite = (like?: Write) => Promise<void>

/** The account used for an unknown name, so that the steps of a known account are taken too. */
export const NOBODY: Fields = { _id: '' }

/** Several, because writes to one record wait for each other. */
const MAX_RECORDS = 16
/** As much text as an account that has signed in and has requested codes. */
const FILLER = 'x'.repeat(1000)

export function dummyWrites(
  collection: Collection,
  { model, names }: AuthSettings,
  logger: Logger,
): DummyWrite {
  const plain: Write = { increment: { [names.failedLoginAttempts]: 1 } }
  const written = async (write: Write): Promise<void> => {
    const hex = Math.floor(Math.random() * MAX_RECORDS)
      .toString(16)
      .padStart(12, '0')
    const _id = model.idType === 'uuid' ? `00000000-0000-4000-8000-${hex}` : `000000000000${hex}`
    // The condition is evaluated, but always true.
    const evaluated = any([write.filter ?? everything, { op: 'ne', field: '_id', value: null }])
    const isThere = await collection.update(all([withId(_id), evaluated]), changeIn(write))
    if (!isThere) await insertOnce(collection, { _id, [names.password]: FILLER })
  }
  return async (step = plain) => {
    try {
      await written(step)
    } catch (error) {
      // An outage affects real accounts too; a failure of dummy writes alone must not tell them apart.
      if (outageIn(error)) throw error
      logger.error('a decoy could not be written', { error: causeOf(error) })
    }
  }
}
