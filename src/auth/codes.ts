/**
 * One-time codes (spec 3.3).
 *
 * A code is derived from what it is for, the channel, the address, the user, the window in which it was requested and
 * the last password change. Asking again within the window sends the same code: a flood of requests neither invalidates
 * the code that the user is typing, nor buys new tries. A code by SMS and one by mail are different codes, each with a
 * state of its own, so that using one proves the address that it went to, and nothing else. The window and the number
 * of tries belong to the account: no change of it gives tries back.
 *
 * @module
 */

import { all, any, type Filter, withId } from '../ports/filter.ts'
import type { Fields } from '../ports/store.ts'
import { CODE_KINDS, type CodeKind, SLOTS, type Slot } from './code-slots.ts'
import { isSealed, type Key, keyOf, seal } from './mac.ts'
import { changedAt, type Realm } from './realm.ts'

/** A window and its code, before the code is sent. */
export interface IssuedCode<Kind extends CodeKind = CodeKind> {
  readonly kind: Kind
  readonly user: Fields
  readonly code: string
  readonly expiresAt: Date
  /** What the code was made with. */
  readonly key: Key
}

/** A right code: the user as the try was counted, and which of the codes it was. */
export interface RightCode<Kind extends CodeKind = CodeKind> {
  readonly kind: Kind
  readonly user: Fields
}

/**
 * Opens a window for a code, or finds the open one, and notes that a code is being sent; undefined while the pause
 * between two codes (`otp.resendSeconds`) lasts. One conditional step does all of it, so that requests at the same
 * moment send one code. The code is valid only once it was sent.
 */
export async function issueCode<Kind extends CodeKind>(
  realm: Realm,
  id: string,
  kind: Kind,
): Promise<IssuedCode<Kind> | undefined> {
  const { records, settings, now } = realm
  const { resendSeconds, ttlSeconds } = settings.otp
  const slot = slotOf(realm, kind)
  const at = now()
  const sentAt = new Date(at)
  const never: Filter = { op: 'eq', field: slot.sentAt, value: null }
  const before = new Date(at - resendSeconds * 1000)
  const rested = any([never, { op: 'lte', field: slot.sentAt, value: before }])
  const none: Filter = { op: 'eq', field: slot.expiresAt, value: null }
  const over: Filter = { op: 'lte', field: slot.expiresAt, value: sentAt }
  const open: Filter = { op: 'gt', field: slot.expiresAt, value: sentAt }
  const opening = {
    [slot.expiresAt]: new Date(at + ttlSeconds * 1000),
    [slot.attempts]: 0,
    [slot.sentAt]: sentAt,
  }
  const user =
    (await records.stored.update(all([withId(id), rested, any([none, over])]), {
      set: opening,
      unset: hashesOf(realm, [kind]),
    })) ??
    (await records.stored.update(all([withId(id), rested, open]), {
      set: { [slot.sentAt]: sentAt },
    }))
  if (!user) return undefined
  const expiresAt = user[slot.expiresAt] as Date
  // The code that this window has already, though another secret has become the first one since.
  const key = keyOf(realm.codeKeys, user[slot.hash]) ?? realm.codeKeys.current
  return { kind, user, code: codeFor(realm, key, user, kind, expiresAt), expiresAt, key }
}

/** Makes a code valid that was sent, unless the window or the password has changed meanwhile. */
export async function activateCode(realm: Realm, issued: IssuedCode): Promise<void> {
  const { names, records } = realm
  const { kind, user, code, key } = issued
  const slot = slotOf(realm, kind)
  const set = {
    [slot.hash]: seal(key, hashedText(realm, user, kind, code)),
    ...(kind === 'email' && { [names.otpPurpose]: slot.purpose }),
  }
  const expect = { [names.passwordChangedAt]: user[names.passwordChangedAt] }
  await records.stored.update(windowOf(realm, issued), { set }, { expect })
}

/** Ends the pause after a code that could not be sent: the next request tries again. */
export async function endPause(realm: Realm, issued: IssuedCode): Promise<void> {
  const { sentAt } = slotOf(realm, issued.kind)
  await realm.records.stored.update(
    windowOf(realm, issued),
    { unset: [sentAt] },
    { expect: { [sentAt]: issued.user[sentAt] } },
  )
}

function windowOf(realm: Realm, { kind, user, expiresAt }: IssuedCode): Filter {
  const { expiresAt: field } = slotOf(realm, kind)
  return all([withId(String(user._id)), { op: 'eq', field, value: expiresAt }])
}

/**
 * Checks a code against the pending ones of `kinds`, counting the try for each in the same conditional step that finds
 * tries left. Gives undefined for every reason to refuse.
 */
export async function tryCode<Kind extends CodeKind>(
  realm: Realm,
  user: Fields,
  code: string | null | undefined,
  kinds: readonly Kind[],
): Promise<RightCode<Kind> | undefined> {
  const { records, settings, now } = realm
  const { maxAttempts } = settings.otp
  const at = now()
  const there = kinds.filter((kind) => isStored(realm, kind))
  const slots = there.map((kind) => slotOf(realm, kind))
  const pending = slots.map(({ hash, expiresAt, attempts }) =>
    all([
      { op: 'ne', field: hash, value: null },
      { op: 'gt', field: expiresAt, value: new Date(at) },
      any([
        { op: 'eq', field: attempts, value: null },
        { op: 'lt', field: attempts, value: maxAttempts },
      ]),
    ]),
  )
  const counted = await records.stored.update(all([withId(String(user._id)), any(pending)]), {
    increment: Object.fromEntries(slots.map(({ attempts }) => [attempts, 1])),
  })
  if (!counted || typeof code !== 'string') return undefined
  const kind = there.find((kind) => isRight(realm, counted, kind, code.trim(), at))
  return kind && { kind, user: counted }
}

/** Whether `code` is the pending code of `kind`; the try is among those that were counted. */
function isRight(realm: Realm, user: Fields, kind: CodeKind, code: string, at: number): boolean {
  const slot = slotOf(realm, kind)
  const hash = user[slot.hash]
  const expiresAt = user[slot.expiresAt]
  const isPending =
    expiresAt instanceof Date &&
    expiresAt.getTime() > at &&
    Number(user[slot.attempts] ?? 0) <= realm.settings.otp.maxAttempts
  const isSame = isSealed(realm.codeKeys, hash, hashedText(realm, user, kind, code))
  return isPending && isSame
}

/** The part of a change that ends the pending codes. Their windows and counted tries stay. */
export function codesEnded(realm: Realm): readonly string[] {
  return hashesOf(realm, CODE_KINDS)
}

/** What must still be as it was when a code was counted, for the step that uses it up. */
export function codeState(realm: Realm, { kind, user }: RightCode): Fields {
  const { hash, expiresAt } = slotOf(realm, kind)
  const address = kind === 'verification' ? [] : [realm.settings.delivery.toField[kind]]
  return Object.fromEntries([hash, expiresAt, ...address].map((field) => [field, user[field]]))
}

function hashesOf({ names, settings }: Realm, kinds: readonly CodeKind[]): readonly string[] {
  const fields = kinds.map((kind) => names[SLOTS[kind].hash])
  if (kinds.includes('email')) fields.push(names.otpPurpose)
  return fields.filter((field) => settings.model.shape.fields.has(field))
}

/** Whether the model has a place for codes of the kind. */
function isStored({ names, settings }: Realm, kind: CodeKind): boolean {
  return settings.model.shape.fields.has(names[SLOTS[kind].hash])
}

/** The stored fields of a kind of code. */
function slotOf({ names }: Realm, kind: CodeKind): Readonly<Record<keyof Slot, string>> {
  const { purpose, hash, expiresAt, attempts, sentAt } = SLOTS[kind]
  return {
    purpose,
    hash: names[hash],
    expiresAt: names[expiresAt],
    attempts: names[attempts],
    sentAt: names[sentAt],
  }
}

/** Digits from a MAC: 8 bytes for at most 12 digits make every code as likely as the next. */
function codeFor(realm: Realm, key: Key, user: Fields, kind: CodeKind, expiresAt: Date): string {
  const { settings } = realm
  const parts = [String(user._id), expiresAt.getTime(), changedAt(realm, user)]
  const bytes = key.mac(
    JSON.stringify([SLOTS[kind].purpose, ...parts, addressFor(realm, user, kind)]),
  )
  const number = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  const { length } = settings.otp
  return String(number % 10n ** BigInt(length)).padStart(length, '0')
}

/** What stands sealed in the record of a code. */
function hashedText(realm: Realm, user: Fields, kind: CodeKind, code: string): string {
  const parts = ['stored', SLOTS[kind].purpose, String(user._id), code]
  return JSON.stringify([...parts, addressFor(realm, user, kind)])
}

/** Where the code goes. Whatever writes another address there, the code that went to the old one must not prove it. */
function addressFor(realm: Realm, user: Fields, kind: CodeKind): unknown {
  const { names, settings } = realm
  if (kind === 'verification') return user[names.pendingEmail] ?? user[names.email]
  return user[settings.delivery.toField[kind]]
}
