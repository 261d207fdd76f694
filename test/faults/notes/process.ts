/**
 * Servers of notes as processes of their own, to be killed, stopped and started again.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { programOf } from '../../services/program.ts'
import type { NotesOptions } from './server.ts'

/** A server that runs. */
export interface NotesProcess {
  readonly pid: number
  /** Without a slash at the end. */
  readonly url: string
  /** Milliseconds from its start until it accepted requests. */
  readonly startedInMs: number
  /** Sends a signal to it. */
  signal(name: NodeJS.Signals): void
  /** Ends it with `kill -9` and waits until it is gone. Calling it twice is harmless. */
  kill(): Promise<void>
}

/**
 * Starts a server on one of the runtimes; `wrapper` is a command that runs the one that follows it in its own place. Rejects where the server
 * ends before it accepts requests.
 */
export async function startNotes(
  options: NotesOptions,
  wrapper: readonly string[] = [],
  runtime = 'node',
): Promise<NotesProcess> {
  const begun = performance.now()
  const source = new URL('server.ts', import.meta.url)
  const isNode = runtime === 'node'
  const script = isNode ? ['--expose-gc', programOf(source)] : [fileURLToPath(source)]
  const run = [...(RUNTIMES[runtime] ?? []), ...script, JSON.stringify(options)]
  const [command = '', ...args] = [...wrapper, ...run]
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(server, 'exit')
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line'), gone])
  const port = /^listening (\d+)$/.exec(String(line))?.[1]
  if (port === undefined) throw new Error(`the server of notes did not start: ${line}`)
  return {
    pid: server.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    startedInMs: performance.now() - begun,
    signal: (name) => void server.kill(name),
    async kill() {
      server.kill('SIGKILL')
      await gone
    },
  }
}
