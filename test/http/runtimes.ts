/**
 * The runtimes that the black-box suite runs on, each as a process of its own.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { FROM_SOURCE } from '../runtimes/commands.ts'

/** A server in another process. */
export interface Running {
  readonly base: string
  /** Milliseconds from the start of the process to its first accepted request. */
  readonly startedInMs: number
  stop(): Promise<void>
}

const bin = (name: string) =>
  fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url))
const script = (name: string) => fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url))

/** How each runtime is started. */
export const runtimes: Readonly<Record<'Node' | 'Deno' | 'Bun', readonly string[]>> = {
  Node: [process.execPath, FROM_SOURCE, script('node')],
  Deno: [bin('deno'), 'run', FROM_SOURCE, '--allow-all', '--no-lock', script('deno')],
  Bun: [bin('bun'), FROM_SOURCE, script('bun')],
}

/** Starts a server and waits until it says where it listens. */
export async function start(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const begun = performance.now()
  const child = spawn(command, args, {
    env: { ...process.env, ...env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const base = `http://127.0.0.1:${await portOf(child)}`
  return {
    base,
    startedInMs: performance.now() - begun,
    stop: () =>
      new Promise((resolve) => {
        child.once('close', () => resolve())
        child.kill('SIGKILL')
      }),
  }
}

function portOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const hear = (chunk: unknown) => {
      output += chunk
      const port = /listening (\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(port)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('error', reject)
    child.once('close', (code) =>
      reject(new Error(`the server ended with code ${code}: ${output}`)),
    )
  })
}
