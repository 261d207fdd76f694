/* @ts-self-types="./none.d.ts" */
/**
 * What stands for the common passwords on Workers, whose bundles must stay small.
 *
 * @module
 */

/**
 * @returns {Promise<undefined>}
 */
export async function commonPasswords() {
  return undefined
}
