/**
 * One-time codes: how they are made, and where their state is stored.
 *
 * A code is derived from its purpose, the channel, the address, the user, the window in which it was requested, and the
 * last password change. Another request within the window sends the same code, so a flood of requests neither
 * invalidates the code that the user is typing nor gives more tries. A code by SMS and one by mail are different codes,
 * each with its own state, so using one proves only the address that it went to. The window and the number of tries
 * belong to the account: no change of the account gives tries back.
 */

import { all, any, everything, type Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { isSealed, type Key, type Keys, keyOf, seal } from '../keys/signing.ts'
import {
  CODE_KINDS,
  CODE_PURPOSES,
  type CodeKind,
  codeFields,
  type Slot,
} from '../setup/field-names.ts'
import { type KnownClients, triesAfter, triesTakenBack, type WindowEnd } from './known-clients.ts'
import { type DummyWrite, isAfter, NOBODY, replacing, type Users, type Write } from './users.ts'

/** A window and its code, before the code is sent. */
export interface IssuedCode {
  readonly kind: CodeKind
  readonly user: Fields
  readonly code: string
  readonly expiresAt: Date
  readonly key: Key
}

/** A right code: the user as read when the try was counted, and which of the codes it was. */
export interface RightCode<Kind extends CodeKind = CodeKind> {
  readonly kind: Kind
  readonly user: Fields
}

interface Counting {
  countOf(user: Fields, kind: CodeKind): number
  readonly isKnown: boolean
}

/** Concurrent tries overtake each other. */
const MAX_ROUNDS = 20

/** What is later than a right clock can have written by more than this, one wrote that was ahead: it counts for nothing. */
const CLOCK_MS = 3_600_000

export class Codes {
  /** The fields whose removal ends the pending codes. Their windows and counted tries stay. */
  readonly allEnded: readonly string[]
  readonly #users: Users
  readonly #clients: KnownClients
  readonly #dummyWrite: DummyWrite
  readonly #keys: Keys
  readonly slots: Readonly<Record<CodeKind, Slot>>

  constructor(users: Users, clients: KnownClients, dummyWrite: DummyWrite, keys: Keys) {
    this.#users = users
    this.#clients = clients
    this.#dummyWrite = dummyWrite
    this.#keys = keys
    const slots = CODE_KINDS.map((kind) => {
      const [hash, expiresAt, attempts, sentAt] = codeFields(kind).map((name) => users.names[name])
      return [kind, { hash, expiresAt, attempts, sentAt }]
    })
    this.slots = Object.fromEntries(slots)
    this.allEnded = this.#hashes(CODE_KINDS)
  }

  /**
   * Opens a window for a code of `account`, or finds the open one, and records that a code is being sent. Undefined
   * during the pause between two codes (`otp.resendSeconds`). All of it happens in one conditional step, so that
   * concurrent requests send one code; the record as it was read only decides which step to try first.
   */
  async issue(account: Fields, kind: CodeKind): Promise<IssuedCode | undefined> {
    const { resendSeconds, ttlSeconds } = this.#users.settings.otp
    const slot = this.slots[kind]
    const at = this.#users.now()
    const most = at + ttlSeconds * 1000
    const last = isAfter(account[slot.sentAt], at + CLOCK_MS) ? undefined : account[slot.sentAt]
    if (resendSeconds > 0 && isAfter(last, at - resendSeconds * 1000)) return undefined
    // Each message has a time of its own, so that only the last one ends the pause or takes the code back.
    const sentAt = new Date(isAfter(last, at - 1) ? (last as Date).getTime() + 1 : at)
    const pause = new Date(at - resendSeconds * 1000)
    const rested = resendSeconds > 0 ? overOr(slot.sentAt, pause, at) : everything
    const opens = () => {
      const expiresAt = new Date(most)
      const set = { [slot.expiresAt]: expiresAt, [slot.attempts]: 0, [slot.sentAt]: sentAt }
      const filter = all([rested, overOr(slot.expiresAt, new Date(at), most)])
      return this.#users.update(account._id, { set, unset: this.#hashes([kind]), filter })
    }
    const finds = () => {
      const open: Filter = { op: 'gt', field: slot.expiresAt, value: new Date(at) }
      const set = { [slot.sentAt]: sentAt }
      return this.#users.update(account._id, { set, filter: all([rested, open]) })
    }
    const until = account[slot.expiresAt]
    const user =
      isAfter(until, at) && !isAfter(until, most + CLOCK_MS)
        ? ((await finds()) ?? (await opens()))
        : ((await opens()) ?? (await finds()))
    if (!user) return undefined
    const expiresAt = user[slot.expiresAt] as Date
    // The code that this window already has, even if another secret has become the first one since.
    const key = keyOf(this.#keys, user[slot.hash]) ?? this.#keys.current
    return { kind, user, code: this.#code(key, user, kind, expiresAt), expiresAt, key }
  }

  /**
   * Makes a code valid that is about to be handed to its sender; false if the window or the password has changed
   * meanwhile. `takeBack` undoes it, and ends the pause, if the sender fails: the next request tries again.
   */
  async activate(
    issued: IssuedCode,
  ): Promise<{ readonly isValid: boolean; takeBack(): Promise<void> }> {
    const { names } = this.#users
    const { kind, user, code, key } = issued
    const { hash, sentAt, expiresAt } = this.slots[kind]
    const sealed = seal(key, this.#sealedText(user, kind, code))
    const set = {
      [hash]: sealed,
      ...(kind === 'email' && { [names.otpPurpose]: CODE_PURPOSES.email }),
    }
    const { passwordChangedAt } = names
    const unchanged = { [passwordChangedAt]: user[passwordChangedAt] }
    const filter: Filter = { op: 'eq', field: expiresAt, value: issued.expiresAt }
    const isWritten = async (write: Write) =>
      (await this.#users.update(user._id, { ...write, filter })) !== null
    // A code that was valid before has been handed over before: it stays valid.
    const isFirst =
      (user[hash] ?? null) === null &&
      (await isWritten({ set, expect: { ...unchanged, [hash]: undefined } }))
    const isValid = isFirst || (await isWritten({ set, expect: unchanged }))
    return {
      isValid,
      takeBack: async () => {
        const gone = isFirst ? this.#hashes([kind]) : []
        const expect = { [sentAt]: user[sentAt], ...(isFirst && { [hash]: sealed }) }
        await isWritten({ unset: [sentAt, ...gone], expect })
      },
    }
  }

  /**
   * Checks a code of `user` against the pending ones of `kinds`. Each try is counted before it is checked, in one step, so
   * that parallel tries cannot bypass the count; known clients have a count of their own. Undefined for every reason to
   * refuse, including an unknown user, after the same number of writes.
   */
  async tryCode<Kind extends CodeKind>(
    user: Fields | undefined,
    code: string | null | undefined,
    kinds: readonly Kind[],
    client: string | undefined,
  ): Promise<RightCode<Kind> | undefined> {
    const stored = kinds.filter((kind) => this.#users.declared([this.slots[kind].hash]).length > 0)
    const counted = await this.#users.rewrite(user ?? NOBODY, MAX_ROUNDS, (read) =>
      this.#counting(read, stored, client),
    )
    if (!counted) await this.#dummyWrite(this.#strangersTry(stored))
    const typed = typeof code === 'string' ? code.trim() : ''
    const tried = counted?.after ?? NOBODY
    const countOf = (kind: CodeKind) => counted?.written.countOf(tried, kind) ?? Infinity
    // Compare all of them, even if nothing was counted: a comparison takes time.
    const [right] = stored.filter(
      (kind) => this.#isCode(tried, kind, typed) && this.#mayTry(tried, kind, countOf(kind)),
    )
    if (!counted || right === undefined) return undefined
    await this.#takeBack(tried, stored, counted.written.isKnown)
    return { kind: right, user: tried }
  }

  /** Takes a try back that was right: only wrong ones count. A window that was opened since has none of it. */
  async #takeBack(tried: Fields, kinds: readonly CodeKind[], isKnown: boolean): Promise<void> {
    const { knownTries } = this.#users.names
    const ends = this.#endsOf(tried, kinds)
    const slots = kinds.map((kind) => this.slots[kind])
    const increment = Object.fromEntries(slots.map(({ attempts }) => [attempts, -1]))
    const expect = Object.fromEntries(slots.map(({ expiresAt }) => [expiresAt, tried[expiresAt]]))
    await (isKnown
      ? this.#users.rewrite(tried, MAX_ROUNDS, (read) =>
          replacing(read, knownTries, triesTakenBack(read[knownTries], ends)),
        )
      : this.#users.update(tried._id, { increment, expect }))
  }

  /**
   * The write that counts a try of each of `kinds`, if one of them has a pending code with tries left; undefined if none has:
   * a write that matches nothing is fast, so the caller writes elsewhere. `countOf` is the number after it.
   */
  #counting(
    user: Fields,
    kinds: readonly CodeKind[],
    client: string | undefined,
  ): (Write & Counting) | undefined {
    const isKnown = this.#clients.isKnown(user, client) && this.#users.has('knownTries')
    if (!isKnown) {
      const countOf = (record: Fields, kind: CodeKind) =>
        Number(record[this.slots[kind].attempts] ?? 0)
      const isLeft = kinds.some((kind) => this.#mayTry(user, kind, countOf(user, kind) + 1))
      return isLeft ? { ...this.#strangersTry(kinds), countOf, isKnown } : undefined
    }
    const field = this.#users.names.knownTries
    const tries = triesAfter(user[field], this.#endsOf(user, kinds))
    const countOf = (_: Fields, kind: CodeKind) =>
      tries.find((one) => one.kind === kind)?.count ?? 0
    if (!kinds.some((kind) => this.#mayTry(user, kind, countOf(user, kind)))) return undefined
    const same = [field, ...kinds.map((kind) => this.slots[kind].expiresAt)]
    const expect = Object.fromEntries(same.map((name) => [name, user[name]]))
    return { set: { [field]: tries }, expect, countOf, isKnown }
  }

  #strangersTry(kinds: readonly CodeKind[]): Write {
    const slots = kinds.map((kind) => this.slots[kind])
    const pending = slots.map(({ hash, expiresAt, attempts }) =>
      all([
        { op: 'ne', field: hash, value: null },
        { op: 'gt', field: expiresAt, value: new Date(this.#users.now()) },
        missingOr({ op: 'lt', field: attempts, value: this.#users.settings.otp.maxAttempts }),
      ]),
    )
    const increment = Object.fromEntries(slots.map(({ attempts }) => [attempts, 1]))
    return { increment, filter: any(pending) }
  }

  /** Whether a code of `kind` is pending, and may be tried for the `count`th time. */
  #mayTry(user: Fields, kind: CodeKind, count: number): boolean {
    const { hash, expiresAt } = this.slots[kind]
    const isPending = typeof user[hash] === 'string' && isAfter(user[expiresAt], this.#users.now())
    return isPending && count <= this.#users.settings.otp.maxAttempts
  }

  #endsOf(user: Fields, kinds: readonly CodeKind[]): readonly WindowEnd[] {
    return kinds.map((kind) => {
      const end = user[this.slots[kind].expiresAt]
      return { kind, until: end instanceof Date ? end : new Date(0) }
    })
  }

  /** Whether `code` is the pending code of `kind`. Without one it takes as long. */
  #isCode(user: Fields, kind: CodeKind, code: string): boolean {
    const sealed = user[this.slots[kind].hash] ?? `${this.#keys.current.id}.none`
    return isSealed(this.#keys, sealed, this.#sealedText(user, kind, code))
  }

  /** What must be unchanged since a code was counted, for the step that uses it up. */
  stateOf({ kind, user }: RightCode): Fields {
    const { hash, expiresAt } = this.slots[kind]
    const address = kind === 'verification' ? [] : [this.#users.settings.delivery.toField[kind]]
    return Object.fromEntries([hash, expiresAt, ...address].map((field) => [field, user[field]]))
  }

  #hashes(kinds: readonly CodeKind[]): readonly string[] {
    const { names } = this.#users
    const fields = kinds.map((kind) => this.slots[kind].hash)
    if (kinds.includes('email')) fields.push(names.otpPurpose)
    return this.#users.declared(fields)
  }

  /** Digits from a MAC: with 8 bytes for at most 12 digits, every code is equally likely. */
  #code(key: Key, user: Fields, kind: CodeKind, expiresAt: Date): string {
    const parts = [String(user._id), expiresAt.getTime(), this.#users.changedAt(user)]
    const text = JSON.stringify([CODE_PURPOSES[kind], ...parts, this.#address(user, kind)])
    const bytes = key.mac(text)
    const number = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
    const { length } = this.#users.settings.otp
    return String(number % 10n ** BigInt(length)).padStart(length, '0')
  }

  #sealedText(user: Fields, kind: CodeKind, code: string): string {
    const parts = ['stored', CODE_PURPOSES[kind], String(user._id), this.#users.changedAt(user)]
    return JSON.stringify([...parts, code, this.#address(user, kind)])
  }

  /** Where the code goes: if another address is written there since, it must not prove that one. */
  #address(user: Fields, kind: CodeKind): unknown {
    const { pendingEmail, email } = this.#users.names
    if (kind === 'verification') return user[pendingEmail] ?? user[email]
    return user[this.#users.settings.delivery.toField[kind]]
  }
}

/** Missing or not after `end`; or by a clock that was ahead, if `most` is the latest that a right one writes. */
function overOr(field: string, end: Date, most: number): Filter {
  const ahead: Filter = { op: 'gt', field, value: new Date(most + CLOCK_MS) }
  return any([missingOr({ op: 'lte', field, value: end }), ahead])
}

function missingOr(test: Extract<Filter, { field: string }>): Filter {
  return any([{ op: 'eq', field: test.field, value: null }, test])
}
