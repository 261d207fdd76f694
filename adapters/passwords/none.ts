/**
 * No common passwords: for Workers, whose bundles must stay small.
 *
 * @module
 */

/** No list: start-up warns, and names the entry that has one. */
export async function commonPasswords(): Promise<undefined> {
  return undefined
}
