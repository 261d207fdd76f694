/**
 * A process that answers for the models of world.ts on a place, to race with others and to be killed.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { programOf } from '../../services/program.ts'
import type { Asked, Told, Where } from './world.ts'

/** Something that takes requests for the models. */
export interface Racer {
  ask(asked: Asked): Promise<Told>
  /** Ends it, with `kill -9` if it is a process. */
  end(): Promise<void>
}

/** Starts a process that is ready for requests. */
export async function startRacer(where: Where): Promise<Racer> {
  const script = programOf(new URL('servers/racer.ts', import.meta.url))
  const child = fork(script, [JSON.stringify(where)], { execArgv: ['--no-warnings'] })
  const waiting: ((told: Told) => void)[] = []
  await once(child, 'message')
  child.on('message', ({ at, told }: { at: number; told: Told }) => waiting[at]?.(told))
  return {
    ask: (asked) =>
      new Promise((resolve) => {
        const at = waiting.push(resolve) - 1
        child.send({ at, asked })
      }),
    end: () => killed(child),
  }
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
