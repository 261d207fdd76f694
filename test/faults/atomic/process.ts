/**
 * A process that works at a place.
 *
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { programOf } from '../../services/program.ts'
import type { Task, Where } from './place.ts'

/** A process that does tasks. */
export interface Worker {
  /** Resolves to what the task has come to; `hear` is called for each move. */
  does(task: Task, hear?: (move: string) => void): Promise<unknown>
  /** `kill -9`. */
  kill(): Promise<void>
}

/** Starts a process that is ready for tasks. */
export async function startWorker(where: Where): Promise<Worker> {
  const script = programOf(new URL('servers/worker.ts', import.meta.url))
  const child = fork(script, [JSON.stringify(where)], { execArgv: ['--no-warnings'] })
  const gone = once(child, 'exit')
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error('gone')))])
  return {
    does(task, hear = () => {}) {
      child.send(task)
      return new Promise((resolve) => {
        const listen = (said: { move: string } | { told: unknown }) => {
          if ('move' in said) return hear(said.move)
          child.off('message', listen)
          resolve(said.told)
        }
        child.on('message', listen)
        child.once('exit', () => resolve(undefined))
      })
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}
