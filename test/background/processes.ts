/**
 * Processes that are killed and started again.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { programOf } from '../services/program.ts'

/** Several processes of one program. */
export interface Processes {
  start(): Promise<void>
  /** Kills the one with this id, or any. */
  kill(pid?: number): void
}

/** Processes of the program in the file `name` of this folder, which end with the test. */
export function processesOf(name: string, ...args: string[]): Processes {
  const program = programOf(new URL(name, import.meta.url))
  const running = new Set<ChildProcess>()
  onTestFinished(() => {
    for (const one of running) one.kill('SIGKILL')
  })
  return {
    async start() {
      const command = ['--disable-warning=ExperimentalWarning', program, ...args]
      const one = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] })
      running.add(one)
      if (one.stdout) await once(one.stdout, 'data')
    },
    kill(pid) {
      const [first] = running
      const one = pid === undefined ? first : [...running].find((child) => child.pid === pid)
      one?.kill('SIGKILL')
      if (one) running.delete(one)
    },
  }
}
