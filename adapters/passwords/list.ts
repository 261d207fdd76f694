/**
 * The list of common passwords for Workers, where it is loaded only if it is named: it adds about 190 KiB gzipped to a
 * bundle. Other runtimes load it by themselves.
 *
 * @module
 */

/**
 * The common passwords of at least `least` characters (default 1), in lower case, for `password.common`.
 *
 * ```ts
 * import { commonPasswords } from 'fieldgate/common-passwords'
 * createAuthRouter({ password: { common: commonPasswords }, … })
 * ```
 */
export async function commonPasswords(least = 1): Promise<ReadonlySet<string>> {
  const list = await import('#common-passwords')
  return list.commonPasswords(least)
}
