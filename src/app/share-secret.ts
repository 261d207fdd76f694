/**
 * Secrets that all processes of `serve(app, { processes })` must have.
 *
 * @module
 */

import { isSecretOfAll } from '#processes'

/** Throws a `TypeError` that names `option` if the first process has another secret there. */
export async function shareSecret(option: string, secret: string): Promise<void> {
  if (await isSecretOfAll(secret)) return
  throw new TypeError(
    `${option} differs between the processes of serve({ processes }). Read it from an environment variable: a program that makes one up makes one for each process.`,
  )
}
