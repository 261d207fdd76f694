/**
 * The servers as JavaScript, so that no start-up is measured together with a compiler.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Compiles fieldgate and every server of the bench. */
export function buildServers(): void {
  const { status, stdout } = spawnSync(
    process.execPath,
    [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}bench/tsconfig.json`],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the servers do not compile:\n${stdout}`)
}

/** The compiled form of a script of `bench/`, named without its ending. */
export function built(script: string): string {
  return `${root}.cache/bench/built/bench/${script}.js`
}
