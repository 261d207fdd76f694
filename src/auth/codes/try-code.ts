/**
 * Tries of one-time codes. Each is counted before it is checked, in one step, so that parallel tries cannot bypass the
 * count. Known clients have a count of their own.
 */

import { all, any } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { KnownClients } from '../request-info/known-clients.ts'
import type { CodeKind } from '../setup/field-names.ts'
import { type DummyWrite, NOBODY, type Step } from '../users/dummy-writes.ts'
import { isAfter, type Users } from '../users/users.ts'
import type { Codes, RightCode } from './codes.ts'

/** The parts that a try needs. */
export interface TryParts {
  readonly users: Users
  readonly codes: Codes
  readonly clients: KnownClients
  readonly dummyWrite: DummyWrite
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

/**
 * Checks a code of `user` against the pending ones of `kinds`. Returns undefined for every reason to refuse, including an
 * unknown user, after the same number of writes.
 */
export async function tryCode<Kind extends CodeKind>(
  parts: TryParts,
  user: Fields | undefined,
  code: string | null | undefined,
  kinds: readonly Kind[],
  client: string | undefined,
): Promise<RightCode<Kind> | undefined> {
  const { users, codes, dummyWrite } = parts
  const stored = kinds.filter((kind) => users.declared([codes.slots[kind].hash]).length > 0)
  const counted = await countTry(parts, user ?? NOBODY, stored, client)
  if (!counted) await dummyWrite(countingStep(parts, stored))
  const typed = typeof code === 'string' ? code.trim() : ''
  const tried = counted ?? NO_TRY
  // Compare all of them, even if nothing was counted: a comparison takes time.
  const [right] = stored.filter(
    (kind) =>
      codes.isCode(tried.user, kind, typed) && mayTry(parts, tried.user, kind, tried.countOf(kind)),
  )
  return counted && right !== undefined ? { kind: right, user: counted.user } : undefined
}

/** Counts a try for each of `kinds`, if one of them has a pending code with tries left; undefined if none has. */
async function countTry(
  parts: TryParts,
  user: Fields,
  kinds: readonly CodeKind[],
  client: string | undefined,
): Promise<CountedTry | undefined> {
  const { users, codes, clients } = parts
  const field = users.names.knownTries
  let read: Fields | undefined = user
  for (let round = 0; read && round < MAX_ROUNDS; round += 1) {
    if (!clients.isKnown(read, client) || !users.has('knownTries')) {
      return countForOthers(parts, read, kinds)
    }
    const now: Fields = read
    const tries = triesAfter(parts, now, kinds)
    const countOf = (kind: CodeKind) => tries.find((one) => one.kind === kind)?.count ?? 0
    if (!kinds.some((kind) => mayTry(parts, now, kind, countOf(kind)))) return undefined
    const same = [field, ...kinds.map((kind) => codes.slots[kind].expiresAt)]
    const expect = Object.fromEntries(same.map((name) => [name, now[name]]))
    const counted = await users.update(now._id, { set: { [field]: tries } }, expect)
    if (counted) return { user: counted, countOf }
    read = await users.byId(user._id)
  }
  return undefined
}

/** `countTry` for a client that the account does not know. */
async function countForOthers(
  parts: TryParts,
  user: Fields,
  kinds: readonly CodeKind[],
): Promise<CountedTry | undefined> {
  const { users, codes } = parts
  const countOf = (record: Fields, kind: CodeKind) =>
    Number(record[codes.slots[kind].attempts] ?? 0)
  // A write that matches nothing is fast, so if there is nothing to count, the caller writes elsewhere.
  if (!kinds.some((kind) => mayTry(parts, user, kind, countOf(user, kind) + 1))) return undefined
  const { filter, change } = countingStep(parts, kinds)
  const counted = await users.update(user._id, change, {}, filter)
  return counted ? { user: counted, countOf: (kind) => countOf(counted, kind) } : undefined
}

/** The step that counts a try for each of `kinds`, if one of them has a pending code with tries left. */
function countingStep({ users, codes }: TryParts, kinds: readonly CodeKind[]): Step {
  const slots = kinds.map((kind) => codes.slots[kind])
  const pending = slots.map(({ hash, expiresAt, attempts }) =>
    all([
      { op: 'ne', field: hash, value: null },
      { op: 'gt', field: expiresAt, value: new Date(users.now()) },
      any([
        { op: 'eq', field: attempts, value: null },
        { op: 'lt', field: attempts, value: codes.otp.maxAttempts },
      ]),
    ]),
  )
  const increment = Object.fromEntries(slots.map(({ attempts }) => [attempts, 1]))
  return { filter: any(pending), change: { increment } }
}

/** Whether a code of `kind` is pending, and may be tried for the `count`th time. */
function mayTry({ users, codes }: TryParts, user: Fields, kind: CodeKind, count: number): boolean {
  const { hash, expiresAt } = codes.slots[kind]
  const isPending = typeof user[hash] === 'string' && isAfter(user[expiresAt], users.now())
  return isPending && count <= codes.otp.maxAttempts
}

/** The tries of known clients plus one for each of `kinds`; those of expired windows are dropped. */
function triesAfter(
  { users, codes }: TryParts,
  user: Fields,
  kinds: readonly CodeKind[],
): readonly KnownTries[] {
  const stored = user[users.names.knownTries]
  const tries: readonly KnownTries[] = Array.isArray(stored) ? stored : []
  const others = tries.filter((one) => !kinds.some((kind) => kind === one.kind))
  const counted = kinds.map((kind) => {
    const end = user[codes.slots[kind].expiresAt]
    const until = end instanceof Date ? end : new Date(0)
    const before = tries.find((one) => one.kind === kind && one.until.getTime() === until.getTime())
    return { kind, until, count: (before?.count ?? 0) + 1 }
  })
  return [...others, ...counted]
}
