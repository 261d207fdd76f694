/** How a command ends, and the error of one that cannot run. */

/** The command line asks for what cannot be. */
export class Unusable extends Error {
  override readonly name = 'Unusable'
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
