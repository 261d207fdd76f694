/**
 * How each runtime runs a TypeScript file of this repository: with the condition that leads to the sources.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'

/** Makes Node, Deno and Bun take the sources of this repository, so that nothing is built before. */
export const FROM_SOURCE = '--conditions=fieldgate-source'

/** The command of each runtime, with what comes before the file. */
export const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, FROM_SOURCE, '--disable-warning=ExperimentalWarning'],
  // Processes that share a port need the flag (2.9).
  deno: [bin('deno'), 'run', FROM_SOURCE, '-A', '--unstable-net', '--quiet'],
  bun: [bin('bun'), FROM_SOURCE],
}

function bin(name: string): string {
  return fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))
}
