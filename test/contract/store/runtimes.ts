/**
 * The contract over SQLite on runtimes that the test runner does not run on.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { RUNTIMES } from '../../runtimes/commands.ts'

const loop = fileURLToPath(new URL('./sqlite-loop.ts', import.meta.url))

/** Registers a test for each of them: the store in memory, or reads on threads. */
export function contractElsewhere(part: 'memory' | 'threads'): void {
  it.concurrent.each(['deno', 'bun'])(
    `the contract holds on %s (${part})`,
    async (runtime) => {
      const [command = '', ...args] = RUNTIMES[runtime] ?? []
      const { stdout, stderr } = await promisify(execFile)(command, [...args, loop, part])
      expect(stderr).toBe('')
      expect(stdout).toMatch(/^([1-9]\d*) of \1 kept\n$/)
    },
    300_000,
  )
}
