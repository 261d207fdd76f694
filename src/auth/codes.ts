/**
 * One-time codes (spec 3.3).
 *
 * A code is derived from the user, his addresses, the window in which it was asked for and the last password
 * change. So asking again within the window sends the same code: a flood of requests neither invalidates the
 * code that the user is typing, nor buys new tries. A code that was used never comes back, and one that went to
 * another address than the account has now is none.
 *
 * @module
 */

import { all, any, type Filter, withId } from '../ports/filter.ts'
import type { Fields } from '../ports/store.ts'
import type { Channel } from './delivery-options.ts'
import { isSealed, type Key, keyOf, seal } from './mac.ts'
import { changedAt, type Realm } from './realm.ts'

/** A window and its code, before the code is sent. */
export interface IssuedCode {
  readonly user: Fields
  readonly code: string
  readonly expiresAt: Date
  /** What the code was made with. */
  readonly key: Key
}

const PURPOSE = 'passwordReset'
/** The purpose of a code that went to the mailbox alone: using it proves the mailbox. */
const MAILED = `${PURPOSE}:email`
const TEXTED = `${PURPOSE}:sms`

/** Opens a window for a code, or finds the open one. The code is valid only once it was sent. */
export async function issueCode(
  realm: Realm,
  id: string,
  tries = 3,
): Promise<IssuedCode | undefined> {
  const { names, records, settings, now } = realm
  const at = now()
  const user = withId(id)
  const none: Filter = { op: 'eq', field: names.otpExpiresAt, value: null }
  const over: Filter = { op: 'lte', field: names.otpExpiresAt, value: new Date(at) }
  const open: Filter = { op: 'gt', field: names.otpExpiresAt, value: new Date(at) }
  const opened = await records.stored.update(all([user, any([none, over])]), {
    set: {
      [names.otpExpiresAt]: new Date(at + settings.otp.ttlSeconds * 1000),
      [names.otpAttempts]: 0,
    },
    unset: [names.otpHash, names.otpPurpose],
  })
  const record = opened ?? (await records.first(all([user, open])))
  if (!record) return tries > 1 ? issueCode(realm, id, tries - 1) : undefined
  const expiresAt = record[names.otpExpiresAt] as Date
  // The code that this window has already, though another secret has become the first one since.
  const key = keyOf(realm.codeKeys, record[names.otpHash]) ?? realm.codeKeys.current
  return { user: record, code: codeFor(realm, key, record, expiresAt), expiresAt, key }
}

/**
 * Notes that the code of a window is about to be texted. From here on using it proves no mailbox: a sender may
 * deliver a message and fail after that.
 */
export async function noteTexted(realm: Realm, issued: IssuedCode): Promise<void> {
  const set = { [realm.names.otpPurpose]: TEXTED }
  await realm.records.stored.update(windowOf(realm, issued), { set })
}

/** Makes a code valid that was sent, unless the window or the password has changed meanwhile. */
export async function activateCode(
  realm: Realm,
  issued: IssuedCode,
  channel: Channel,
): Promise<void> {
  const { names, records } = realm
  const { user, code, key } = issued
  const window = windowOf(realm, issued)
  const unchanged = { [names.passwordChangedAt]: user[names.passwordChangedAt] }
  const hash = seal(key, hashedText(realm, user, code))
  const activate = (filter: Filter, purpose: string) => {
    const set = { [names.otpHash]: hash, [names.otpPurpose]: purpose }
    return records.stored.update(filter, { set }, { expect: unchanged })
  }
  // The code of a window is one: if it was texted too, using it proves no mailbox.
  const notTexted: Filter = { op: 'ne', field: names.otpPurpose, value: TEXTED }
  const proves = channel === 'email' && (await activate(all([window, notTexted]), MAILED))
  if (!proves) await activate(window, TEXTED)
}

function windowOf({ names }: Realm, { user, expiresAt }: IssuedCode): Filter {
  return all([withId(String(user._id)), { op: 'eq', field: names.otpExpiresAt, value: expiresAt }])
}

/**
 * Checks a code, counting the try in the same conditional step that finds tries left. Gives the user as he
 * was counted, or undefined for every reason to refuse.
 */
export async function tryCode(
  realm: Realm,
  user: Fields,
  code: string | null | undefined,
): Promise<Fields | undefined> {
  const { names, records, settings, now } = realm
  const id = String(user._id)
  const fewer: Filter = { op: 'lt', field: names.otpAttempts, value: settings.otp.maxAttempts }
  const none: Filter = { op: 'eq', field: names.otpAttempts, value: null }
  const counted = await records.stored.update(
    all([
      withId(id),
      { op: 'in', field: names.otpPurpose, values: [MAILED, TEXTED] },
      { op: 'gt', field: names.otpExpiresAt, value: new Date(now()) },
      any([none, fewer]),
    ]),
    { increment: { [names.otpAttempts]: 1 } },
  )
  const hash = counted?.[names.otpHash]
  if (!counted || typeof code !== 'string') return undefined
  const text = hashedText(realm, counted, code.trim())
  return isSealed(realm.codeKeys, hash, text) ? counted : undefined
}

/** The part of a change that ends a pending code. */
export function codeEnded({ names, settings }: Realm): readonly string[] {
  const fields = [names.otpHash, names.otpPurpose, names.otpExpiresAt, names.otpAttempts]
  return fields.filter((field) => settings.model.shape.fields.has(field))
}

/** Whether the pending code of `user` went to the mailbox alone. */
export function wasMailed({ names }: Realm, user: Fields): boolean {
  return user[names.otpPurpose] === MAILED
}

/** Digits from a MAC: 8 bytes for at most 12 digits make every code as likely as the next. */
function codeFor(realm: Realm, key: Key, user: Fields, expiresAt: Date): string {
  const { settings } = realm
  const parts = [PURPOSE, String(user._id), expiresAt.getTime(), changedAt(realm, user)]
  const bytes = key.mac(JSON.stringify([...parts, ...addressesOf(realm, user)]))
  const number = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  const { length } = settings.otp
  return String(number % 10n ** BigInt(length)).padStart(length, '0')
}

/** What stands sealed in the record of a code. */
function hashedText(realm: Realm, user: Fields, code: string): string {
  return JSON.stringify(['stored', String(user._id), code, ...addressesOf(realm, user)])
}

/** Where codes go. Whatever writes another address there, the code that went to the old one must not prove it. */
function addressesOf({ settings }: Realm, user: Fields): readonly unknown[] {
  const { email, sms } = settings.delivery.toField
  return [user[email], user[sms]]
}
