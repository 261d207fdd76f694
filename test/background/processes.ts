/**
 * Processes that are killed and started again.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { workSchema } from '../../src/background/lease.ts'
import { all, type Filter } from '../../src/ports/store/filter.ts'
import { programOf } from '../services/program.ts'

/** Several processes of one program. */
export interface Processes {
  start(): Promise<void>
  /** Kills the one with this id, or any, and resolves when it has ended. */
  kill(pid?: number): Promise<void>
}

/** Processes of a program, which end with the test. */
export function processesOf(source: URL, ...args: string[]): Processes {
  const program = programOf(source)
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
    async kill(pid) {
      const [first] = running
      const one = pid === undefined ? first : [...running].find((child) => child.pid === pid)
      if (!one) return
      const ended = once(one, 'exit')
      one.kill('SIGKILL')
      running.delete(one)
      await ended
    },
  }
}

/**
 * Ends the lease of a process that was killed, as if it had closed, and not after 20 seconds; of a job, only if it died in the
 * run of this time.
 */
export async function endLease(database: string, tick?: Date): Promise<void> {
  const store = sqliteStore({ path: database })
  await store.prepare([workSchema])
  const held: Filter = { op: 'ne', field: 'owner', value: '' }
  const inRun: Filter[] = tick ? [{ op: 'eq', field: 'tick', value: tick }] : []
  const ended = { set: { owner: '', until: new Date(0) } }
  await store.collection(workSchema).updateMany(all([held, ...inRun]), ended)
  await store.close()
}
