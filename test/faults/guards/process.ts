/**
 * Servers behind guards as processes of their own, to be killed and started again.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programOf } from '../../services/program.ts'
import type { GuardedOptions } from './server.ts'

/** A server that runs. */
export interface GuardedProcess {
  /** Without a slash at the end. */
  readonly url: string
  /** Ends it with `kill -9` and waits until it is gone. Calling it twice is harmless. */
  kill(): Promise<void>
}

/** Starts a server; rejects if it ends before it accepts requests. */
export async function startGuarded(options: GuardedOptions): Promise<GuardedProcess> {
  const script = programOf(new URL('server.ts', import.meta.url))
  const args = ['--no-warnings', script, JSON.stringify(options)]
  const server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(server, 'exit')
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), gone])
  const port = /^listening (\d+)$/.exec(String(line))?.[1]
  if (port === undefined) throw new Error(`the guarded server did not start: ${line}`)
  return {
    url: `http://127.0.0.1:${port}`,
    async kill() {
      server.kill('SIGKILL')
      await gone
    },
  }
}
