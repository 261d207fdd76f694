import type { Hasher } from '../../ports/services/hasher.ts'
import type { Logger } from '../../ports/services/logger.ts'
import { startedOnce } from '../../ports/values/once.ts'
import type { PasswordOptions } from '../setup/options.ts'
import type { AuthSettings } from '../setup/settings.ts'
import type { Hashing } from './hashing.ts'

/** UTF-8 bytes. Longer passwords would only cost time: scrypt's first step is linear in the length. */
export const MAX_BYTES = 1024

/** Each call of `hash` and `verify` is exactly one computation. */
export interface Passwords {
  hash(plain: string): Promise<string>
  /** Whether `plain` matches `stored`. Without a stored hash it takes as long, and is false. */
  verify(plain: string, stored: string | undefined): Promise<boolean>
  needsRehash(stored: string): boolean
  /** Whether a password, case-folded, is a common one. */
  isCommon(folded: string): Promise<boolean>
}

/** Passwords by the option's own functions, the app's hasher, or scrypt. */
export function passwordsOf(
  own: AuthSettings['password'],
  appHasher: Hasher | undefined,
  hashing: Hashing,
  logger: Logger,
): Passwords {
  let hasher: Hasher | undefined = ownHasher(own) ?? appHasher
  const chosen = async (): Promise<Hasher> => {
    hasher ??= (await import('#scrypt')).hasher
    return hasher
  }
  const hash = async (plain: string): Promise<string> => {
    const { hash: compute } = await chosen()
    return hashing.run(() => compute(plain))
  }
  const decoy = own.hash ? startedOnce(() => hash(crypto.randomUUID())) : async () => DECOY
  return {
    hash,
    async verify(plain, stored) {
      // Same time for unknown accounts: their guess is checked against a hash that no password gives.
      const unknown = decoy()
      unknown.catch(() => {})
      const against = stored ?? (await unknown)
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
function ownHasher({ hash, verify }: AuthSettings['password']): Hasher | undefined {
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

/** The list omits them, because zxcvbn detects repetitions itself. */
const ONE_CHARACTER = /^([\da-z])\1{0,15}$/

/** The common passwords by the option, loaded on first use; the runtime's own list by default. */
export function commonOnes(
  { common, minLength = 1 }: Pick<PasswordOptions, 'common' | 'minLength'>,
  logger: Logger,
): Passwords['isCommon'] {
  if (common === false) return async () => false
  const load = startedOnce(async (): Promise<ReadonlySet<string> | undefined> => {
    if (typeof common === 'object') return common
    if (typeof common === 'function') return common(minLength)
    const list = await (await import('#passwords')).commonPasswords(minLength)
    if (!list) {
      logger.warn(
        `no list of common passwords is loaded on this runtime: set password: { common: commonPasswords } from 'fieldgate/common-passwords', or common: false`,
      )
    }
    return list
  })
  let list: ReadonlySet<string> | undefined
  return async (folded) => {
    list ??= await load()
    return ONE_CHARACTER.test(folded) || (list?.has(folded) ?? false)
  }
}
