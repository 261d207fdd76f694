/** Passwords: which values are accepted as one, hashing and verifying. */

import { invalidFields } from '../../http/refusals.ts'
import type { Hasher } from '../../ports/hasher.ts'
import type { Logger } from '../../ports/logger.ts'
import * as refuse from '../refusals.ts'
import type { PasswordOptions } from '../setup/options.ts'
import type { Hashing } from './hashing.ts'

/** UTF-8 bytes. Longer passwords would only cost time: scrypt's first step is linear in the length. */
export const MAX_BYTES = 1024

/** Hashes and verifies passwords; each call is exactly one computation. */
export interface Passwords {
  hash(plain: string): Promise<string>
  /** Whether `plain` matches `stored`. Without a stored hash it takes as long, and is false. */
  verify(plain: string, stored: string | undefined): Promise<boolean>
  needsRehash(stored: string): boolean
  /** Whether a password, case-folded, is a common one. */
  readonly isCommon: IsCommon
}

/** The password that a body sets. Throws a 400 with the contract's texts. */
export function newPassword(
  value: string | null | undefined,
  field: string,
  least: number,
): string {
  if (typeof value !== 'string' || value === '') throw refuse.passwordRequired()
  // This many units are enough: a string of a megabyte is not taken apart.
  if ([...value.slice(0, 2 * least)].length < least) throw refuse.passwordTooShort(least)
  checkPasswordSize(value)
  // A lone surrogate has no UTF-8 form: different passwords would have the same hash.
  if (!value.isWellFormed()) throw invalidFields({ [field]: 'Invalid Unicode text.' })
  return value
}

/** Refuses a password that is too long, before it is hashed. */
export function checkPasswordSize(password: string): void {
  if (sizeOf(password) > MAX_BYTES) throw refuse.passwordTooLong(MAX_BYTES)
}

/** The length of `text` in UTF-8 bytes, or more than any limit without counting. */
export function sizeOf(text: string): number {
  return text.length > MAX_BYTES ? text.length : new TextEncoder().encode(text).length
}

/** Passwords by the option's own functions, the app's hasher, or scrypt. */
export function passwordsOf(
  own: PasswordOptions,
  appHasher: Hasher | undefined,
  hashing: Hashing,
  logger: Logger,
): Passwords {
  let hasher: Hasher | undefined = ownHasher(own) ?? appHasher
  let decoy: Promise<string> | undefined
  const chosen = async (): Promise<Hasher> => {
    hasher ??= (await import('#scrypt')).hasher
    return hasher
  }
  const hash = async (plain: string): Promise<string> => {
    const { hash: compute } = await chosen()
    return hashing.run(() => compute(plain))
  }
  return {
    hash,
    async verify(plain, stored) {
      // Same time for unknown accounts: their guess is checked against a hash that no password gives.
      decoy ??= own.hash ? hash(crypto.randomUUID()) : Promise.resolve(DECOY)
      decoy.catch(() => {
        decoy = undefined
      })
      const against = stored ?? (await decoy)
      const { verify } = await chosen()
      // A lone surrogate would be hashed as U+FFFD, and would match another password.
      const opens = await hashing.run(() => verify(plain, against))
      return opens === true && stored !== undefined && plain.isWellFormed()
    },
    isCommon: commonOnes(own, logger),
    needsRehash: (stored) => hasher?.needsRehash(stored) ?? false,
  }
}

/** A hash that no password gives. */
export const DECOY: string = `scrypt$16384$8$5$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** The functions of your options, sync or async, as a hasher; only a real `true` counts as a match. */
function ownHasher({ hash, verify }: PasswordOptions): Hasher | undefined {
  if (!hash || !verify) return undefined
  return {
    async hash(plain) {
      const stored: unknown = await hash(plain)
      if (typeof stored !== 'string' || stored === '') {
        throw new TypeError(`Auth: 'password.hash' must return a string`)
      }
      return stored
    },
    verify: async (plain, stored) => ((await verify(plain, stored)) as unknown) === true,
    needsRehash: () => false,
  }
}

/** Whether a password, case-folded, is a common one. */
export type IsCommon = (folded: string) => Promise<boolean>

/** The list omits them, because zxcvbn detects repetitions itself. */
const ONE_CHARACTER = /^([\da-z])\1{0,15}$/

/** The common passwords by the option, loaded on first use; the runtime's own list by default. */
export function commonOnes(
  { common, minLength = 1 }: Pick<PasswordOptions, 'common' | 'minLength'>,
  logger: Logger,
): IsCommon {
  if (common === false) return async () => false
  let loading: Promise<ReadonlySet<string> | undefined> | undefined
  const load = async (): Promise<ReadonlySet<string> | undefined> => {
    if (typeof common === 'object') return common
    if (typeof common === 'function') return common(minLength)
    const list = await (await import('#passwords')).commonPasswords(minLength)
    if (!list) {
      logger.warn(
        `no list of common passwords is loaded on this runtime: set password: { common: commonPasswords } from 'fieldgate/common-passwords', or common: false`,
      )
    }
    return list
  }
  return async (folded) => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const list = await loading
    return ONE_CHARACTER.test(folded) || (list?.has(folded) ?? false)
  }
}
