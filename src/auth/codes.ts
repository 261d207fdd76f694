/**
 * One-time codes (spec 3.3).
 *
 * A code is derived from its purpose, the channel, the address, the user, the window in which it was requested, and the
 * last password change. Another request within the window sends the same code, so a flood of requests neither
 * invalidates the code that the user is typing nor gives more tries. A code by SMS and one by mail are different codes,
 * each with its own state, so using one proves only the address that it went to. The window and the number of tries
 * belong to the account: no change of the account gives tries back.
 *
 * @module
 */

import { all, any, everything, type Filter, withId } from '../ports/filter.ts'
import type { Fields } from '../ports/store.ts'
import { type DecoyStep, NOBODY } from './instance/decoys.ts'
import type { AuthInstance } from './instance/instance.ts'
import { changedAt, isAfter, userById } from './instance/user.ts'
import { isSealed, type Key, keyOf, seal } from './keys/hmac.ts'
import { CODE_KINDS, type CodeKind, SLOTS, type Slot } from './setup/code-fields.ts'
import { knownClient } from './visit/known-clients.ts'

/** A window and its code, before the code is sent. */
export interface IssuedCode<Kind extends CodeKind = CodeKind> {
  readonly kind: Kind
  readonly user: Fields
  readonly code: string
  readonly expiresAt: Date
  /** The key that made the code. */
  readonly key: Key
}

/** A right code: the user as read when the try was counted, and which of the codes it was. */
export interface RightCode<Kind extends CodeKind = CodeKind> {
  readonly kind: Kind
  readonly user: Fields
}

/**
 * Opens a window for a code of `account`, or finds the open one, and records that a code is being sent. Undefined
 * during the pause between two codes (`otp.resendSeconds`). All of it happens in one conditional step, so that
 * concurrent requests send one code; the record as it was read only decides which step to try first.
 */
export async function issueCode<Kind extends CodeKind>(
  auth: AuthInstance,
  account: Fields,
  kind: Kind,
): Promise<IssuedCode<Kind> | undefined> {
  const { engine, settings, now } = auth
  const { resendSeconds, ttlSeconds } = settings.otp
  const slot = slotOf(auth, kind)
  const at = now()
  const last = account[slot.sentAt]
  const isResting = resendSeconds > 0 && isAfter(last, at - resendSeconds * 1000)
  if (isResting) return undefined
  // Each message has a time of its own, so that only the last one ends the pause or takes the code back.
  const sentAt = new Date(isAfter(last, at - 1) ? (last as Date).getTime() + 1 : at)
  const before = new Date(at - resendSeconds * 1000)
  const never: Filter = { op: 'eq', field: slot.sentAt, value: null }
  const paused = any([never, { op: 'lte', field: slot.sentAt, value: before }])
  const rested: Filter = resendSeconds > 0 ? paused : everything
  const none: Filter = { op: 'eq', field: slot.expiresAt, value: null }
  const over: Filter = { op: 'lte', field: slot.expiresAt, value: new Date(at) }
  const open: Filter = { op: 'gt', field: slot.expiresAt, value: new Date(at) }
  const opening = {
    [slot.expiresAt]: new Date(at + ttlSeconds * 1000),
    [slot.attempts]: 0,
    [slot.sentAt]: sentAt,
  }
  const byId = withId(String(account._id))
  const opens = () =>
    engine.stored.update(all([byId, rested, any([none, over])]), {
      set: opening,
      unset: hashesOf(auth, [kind]),
    })
  const finds = () =>
    engine.stored.update(all([byId, rested, open]), { set: { [slot.sentAt]: sentAt } })
  const user = isAfter(account[slot.expiresAt], at)
    ? ((await finds()) ?? (await opens()))
    : ((await opens()) ?? (await finds()))
  if (!user) return undefined
  const expiresAt = user[slot.expiresAt] as Date
  // The code that this window already has, even if another secret has become the first one since.
  const key = keyOf(auth.codeKeys, user[slot.hash]) ?? auth.codeKeys.current
  return { kind, user, code: codeFor(auth, key, user, kind, expiresAt), expiresAt, key }
}

/**
 * Makes a code valid that is about to be handed to its sender; false if the window or the password has changed
 * meanwhile. `takeBack` undoes it, and ends the pause, if the sender fails: the next request tries again.
 */
export async function activateCode(
  auth: AuthInstance,
  issued: IssuedCode,
): Promise<{ readonly isValid: boolean; takeBack(): Promise<void> }> {
  const { names, engine } = auth
  const { kind, user, code, key } = issued
  const slot = slotOf(auth, kind)
  const sealed = seal(key, hashedText(auth, user, kind, code))
  const set = {
    [slot.hash]: sealed,
    ...(kind === 'email' && { [names.otpPurpose]: slot.purpose }),
  }
  const write = (more: Fields) =>
    engine.stored.update(
      windowOf(auth, issued),
      { set },
      { expect: { [names.passwordChangedAt]: user[names.passwordChangedAt], ...more } },
    )
  // A code that was valid before has been handed over before: it stays valid.
  const isFirst =
    (user[slot.hash] ?? null) === null && (await write({ [slot.hash]: undefined })) !== null
  const isValid = isFirst || (await write({})) !== null
  return { isValid, takeBack: () => takeBack(auth, issued, isFirst ? sealed : undefined) }
}

/** Ends the pause after `issued`, and the code behind `sealed`, unless it was issued again meanwhile. */
async function takeBack(
  auth: AuthInstance,
  issued: IssuedCode,
  sealed: string | undefined,
): Promise<void> {
  const { sentAt, hash } = slotOf(auth, issued.kind)
  const pause = { [sentAt]: issued.user[sentAt] }
  const gone = sealed === undefined ? [] : hashesOf(auth, [issued.kind])
  await auth.engine.stored.update(
    windowOf(auth, issued),
    { unset: [sentAt, ...gone] },
    { expect: { ...pause, ...(sealed !== undefined && { [hash]: sealed }) } },
  )
}

function windowOf(auth: AuthInstance, { kind, user, expiresAt }: IssuedCode): Filter {
  const { expiresAt: field } = slotOf(auth, kind)
  return all([withId(String(user._id)), { op: 'eq', field, value: expiresAt }])
}

/**
 * Checks a code of `user` against the pending ones of `kinds`. The try is counted for each kind before it is checked,
 * in one step, so that parallel tries cannot bypass the count. Known clients have a count of their own. Returns
 * undefined for every reason to refuse, including an unknown user, after the same number of writes.
 */
export async function tryCode<Kind extends CodeKind>(
  auth: AuthInstance,
  user: Fields | undefined,
  code: string | null | undefined,
  kinds: readonly Kind[],
  client: string | undefined,
): Promise<RightCode<Kind> | undefined> {
  const there = stored(auth, kinds)
  const counted = await countTry(auth, user ?? NOBODY, there, client)
  if (!counted) await auth.decoys.write(tryStep(auth, there))
  const typed = typeof code === 'string' ? code.trim() : ''
  // Compare all of them, even if nothing was counted: a comparison takes time.
  const right = there.filter((kind) => isRight(auth, counted ?? NO_TRY, kind, typed))
  return counted && right[0] !== undefined ? { kind: right[0], user: counted.user } : undefined
}

/** A counted try: the user after it, and the number of tries of each kind, including this one. */
interface CountedTry {
  readonly user: Fields
  countOf(kind: CodeKind): number
}

/** The values to compare with if no try was counted. */
const NO_TRY: CountedTry = { user: NOBODY, countOf: () => Number.POSITIVE_INFINITY }

/** The tries of known clients, in the window that ends at `until`. */
interface KnownTries {
  readonly kind: string
  readonly until: Date
  readonly count: number
}

/** Concurrent tries overtake each other. */
const MAX_ROUNDS = 20

/** Counts a try for each of `kinds`, if one of them has a pending code with tries left; undefined if none has. */
async function countTry(
  auth: AuthInstance,
  user: Fields,
  kinds: readonly CodeKind[],
  client: string | undefined,
): Promise<CountedTry | undefined> {
  const field = auth.names.knownTries
  let read: Fields | undefined = user
  for (let round = 0; read && round < MAX_ROUNDS; round += 1) {
    if (!knownClient(auth, read, client) || !auth.settings.model.shape.fields.has(field)) {
      return countForOthers(auth, read, kinds)
    }
    const now: Fields = read
    const tries = triesAfter(auth, now, kinds)
    const countOf = (kind: CodeKind) => tries.find((one) => one.kind === kind)?.count ?? 0
    if (!kinds.some((kind) => mayTry(auth, now, kind, countOf(kind)))) return undefined
    const same = [field, ...kinds.map((kind) => slotOf(auth, kind).expiresAt)]
    const expect = Object.fromEntries(same.map((name) => [name, now[name]]))
    const byId = withId(String(now._id))
    const set = { [field]: tries }
    const counted = await auth.engine.stored.update(byId, { set }, { expect })
    if (counted) return { user: counted, countOf }
    read = await userById(auth, String(user._id))
  }
  return undefined
}

/** `countTry` for a client that the account does not know. */
async function countForOthers(
  auth: AuthInstance,
  user: Fields,
  kinds: readonly CodeKind[],
): Promise<CountedTry | undefined> {
  const countOf = (record: Fields, kind: CodeKind) =>
    Number(record[slotOf(auth, kind).attempts] ?? 0)
  // A write that matches nothing is fast, so if there is nothing to count, a decoy is written instead.
  if (!kinds.some((kind) => mayTry(auth, user, kind, countOf(user, kind) + 1))) return undefined
  const { filter, change } = tryStep(auth, kinds)
  const byId = withId(String(user._id))
  const counted = await auth.engine.stored.update(all([byId, filter]), change)
  return counted ? { user: counted, countOf: (kind) => countOf(counted, kind) } : undefined
}

/** The step that counts a try for each of `kinds`, if one of them has a pending code with tries left. */
function tryStep(auth: AuthInstance, kinds: readonly CodeKind[]): DecoyStep {
  const { settings, now } = auth
  const slots = kinds.map((kind) => slotOf(auth, kind))
  const pending = slots.map(({ hash, expiresAt, attempts }) =>
    all([
      { op: 'ne', field: hash, value: null },
      { op: 'gt', field: expiresAt, value: new Date(now()) },
      any([
        { op: 'eq', field: attempts, value: null },
        { op: 'lt', field: attempts, value: settings.otp.maxAttempts },
      ]),
    ]),
  )
  const increment = Object.fromEntries(slots.map(({ attempts }) => [attempts, 1]))
  return { filter: any(pending), change: { increment } }
}

/** Whether a code of `kind` is pending, and may be tried for the `count`th time. */
function mayTry(auth: AuthInstance, user: Fields, kind: CodeKind, count: number): boolean {
  const { hash, expiresAt } = slotOf(auth, kind)
  const isPending = typeof user[hash] === 'string' && isAfter(user[expiresAt], auth.now())
  return isPending && count <= auth.settings.otp.maxAttempts
}

/** The tries of known clients plus one for each of `kinds`; those of expired windows are dropped. */
function triesAfter(
  auth: AuthInstance,
  user: Fields,
  kinds: readonly CodeKind[],
): readonly KnownTries[] {
  const stored = user[auth.names.knownTries]
  const tries: readonly KnownTries[] = Array.isArray(stored) ? stored : []
  const others = tries.filter((one) => !kinds.some((kind) => kind === one.kind))
  const counted = kinds.map((kind) => {
    const end = user[slotOf(auth, kind).expiresAt]
    const until = end instanceof Date ? end : new Date(0)
    const before = tries.find((one) => one.kind === kind && one.until.getTime() === until.getTime())
    return { kind, until, count: (before?.count ?? 0) + 1 }
  })
  return [...others, ...counted]
}

/** Whether `code` is the pending code of `kind`, and tries are left for it. */
function isRight(
  auth: AuthInstance,
  { user, countOf }: CountedTry,
  kind: CodeKind,
  code: string,
): boolean {
  const { codeKeys } = auth
  const sealed = user[slotOf(auth, kind).hash] ?? `${codeKeys.current.id}.none`
  const isSame = isSealed(codeKeys, sealed, hashedText(auth, user, kind, code))
  return isSame && mayTry(auth, user, kind, countOf(kind))
}

/** The part of a change that ends the pending codes. Their windows and counted tries stay. */
export function codesEnded(auth: AuthInstance): readonly string[] {
  return hashesOf(auth, CODE_KINDS)
}

/** What must be unchanged since a code was counted, for the step that uses it up. */
export function codeState(auth: AuthInstance, { kind, user }: RightCode): Fields {
  const { hash, expiresAt } = slotOf(auth, kind)
  const address = kind === 'verification' ? [] : [auth.settings.delivery.toField[kind]]
  return Object.fromEntries([hash, expiresAt, ...address].map((field) => [field, user[field]]))
}

function hashesOf(
  { names, settings }: AuthInstance,
  kinds: readonly CodeKind[],
): readonly string[] {
  const fields = kinds.map((kind) => names[SLOTS[kind].hash])
  if (kinds.includes('email')) fields.push(names.otpPurpose)
  return fields.filter((field) => settings.model.shape.fields.has(field))
}

/** Those of `kinds` that the model has fields for. */
function stored<Kind extends CodeKind>(
  { names, settings }: AuthInstance,
  kinds: readonly Kind[],
): readonly Kind[] {
  return kinds.filter((kind) => settings.model.shape.fields.has(names[SLOTS[kind].hash]))
}

/** The stored fields of a kind of code. */
function slotOf({ names }: AuthInstance, kind: CodeKind): Readonly<Record<keyof Slot, string>> {
  const { purpose, hash, expiresAt, attempts, sentAt } = SLOTS[kind]
  return {
    purpose,
    hash: names[hash],
    expiresAt: names[expiresAt],
    attempts: names[attempts],
    sentAt: names[sentAt],
  }
}

/** Digits from a MAC: with 8 bytes for at most 12 digits, every code is equally likely. */
function codeFor(
  auth: AuthInstance,
  key: Key,
  user: Fields,
  kind: CodeKind,
  expiresAt: Date,
): string {
  const { settings } = auth
  const parts = [String(user._id), expiresAt.getTime(), changedAt(auth, user)]
  const bytes = key.mac(
    JSON.stringify([SLOTS[kind].purpose, ...parts, addressFor(auth, user, kind)]),
  )
  const number = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  const { length } = settings.otp
  return String(number % 10n ** BigInt(length)).padStart(length, '0')
}

/** The string that is sealed in the record of a code. */
function hashedText(auth: AuthInstance, user: Fields, kind: CodeKind, code: string): string {
  const parts = ['stored', SLOTS[kind].purpose, String(user._id), code]
  return JSON.stringify([...parts, addressFor(auth, user, kind)])
}

/**
 * Where the code goes. If another address is written there, the code that went to the old one must not prove the new
 * one.
 */
function addressFor(auth: AuthInstance, user: Fields, kind: CodeKind): unknown {
  const { names, settings } = auth
  if (kind === 'verification') return user[names.pendingEmail] ?? user[names.email]
  return user[settings.delivery.toField[kind]]
}
