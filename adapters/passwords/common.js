/* @ts-self-types="./common.d.ts" */
/**
 * The most common passwords, from the lists of zxcvbn (`@zxcvbn-ts/language-common`): about 49,000, of which 17,900 have
 * at least 8 characters. All are in lower case.
 *
 * @module
 */

/**
 * The common passwords of at least `least` characters. It takes some milliseconds and a few MiB, so it is loaded when
 * the first password is set.
 *
 * @param {number} [least]
 * @returns {Promise<ReadonlySet<string>>}
 */
export async function commonPasswords(least = 1) {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].filter((word) => [...word].length >= least))
}
