/**
 * The most common passwords, from the lists of zxcvbn (`@zxcvbn-ts/language-common`): about 49,000, of which 17,900 have
 * at least 8 characters. All are in lower case.
 *
 * Most runtimes load them by themselves. On Workers, where they add about 190 KiB gzipped to a bundle, they are loaded
 * only if you name them:
 *
 * ```ts
 * import { commonPasswords } from 'fieldgate/common-passwords'
 *
 * createAuthRouter({ model: User, token: { secret }, password: { common: commonPasswords } })
 * ```
 *
 * @module
 */

import { exportsOf } from '../../src/ports/values/exports.ts'

/** The lists that were made, by their least length: all auth routers of a process share them. */
const lists = new Map<number, ReadonlySet<string>>()

/**
 * The common passwords of at least `least` characters (default 1), in lower case, for `password.common`. Loading takes
 * some milliseconds and a few MiB, so it happens when the first password is set, once in a process.
 */
export async function commonPasswords(least = 1): Promise<ReadonlySet<string>> {
  const { dictionary } = exportsOf(await import('@zxcvbn-ts/language-common'))
  const long = (word: string): boolean => [...word].length >= least
  const list = lists.get(least) ?? new Set(dictionary['passwords-common'].filter(long))
  lists.set(least, list)
  return list
}
