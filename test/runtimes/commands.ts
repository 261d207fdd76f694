/**
 * How each runtime runs a TypeScript file.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'

/** The command of each runtime, with what comes before the file. */
export const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, '--disable-warning=ExperimentalWarning'],
  deno: [bin('deno'), 'run', '-A', '--quiet'],
  bun: [bin('bun')],
}

function bin(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))
}
