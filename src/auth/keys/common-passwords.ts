/**
 * Common passwords: the option's list, or the list of the runtime's adapter.
 *
 * @module
 */

import type { Logger } from '../../ports/logger.ts'
import type { PasswordOptions } from '../setup/options.ts'

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
