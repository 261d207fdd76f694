/** How a command ends, and the error of one that cannot run. */

import { existsSync } from 'node:fs'

/** The command line asks for what cannot be. */
export class Unusable extends Error {
  override readonly name = 'Unusable'
}

/** Throws an `Unusable` for a module that is not there. */
export function checkThere(module: string): void {
  if (!existsSync(module)) throw new Unusable(`there is no file '${module}' in ${process.cwd()}`)
}

/**
 * Ends the process when everything is printed. What the user's module has left running would keep it alive: a server, a
 * timer, a connection.
 */
export async function end(code: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((resolve) => stream.write('', resolve))
  }
  process.exit(code)
}
