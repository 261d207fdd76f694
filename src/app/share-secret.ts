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
    `${option} differs between the processes of serve(app, { processes }). Read it from an environment variable. If the program makes one up, each process has its own.`,
  )
}
