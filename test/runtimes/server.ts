/**
 * The fixture as a process, and clients that misbehave.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { programOf } from '../services/program.ts'
import { RUNTIMES } from './commands.ts'

/** A fixture that runs. */
export interface Fixture {
  readonly url: string
  /** Resolves when the fixture has said `line`, before or after. */
  said(line: string): Promise<void>
  readonly lines: readonly string[]
  /** Tells the fixture something. */
  tell(word: 'close' | 'release'): void
  /** Sends a signal to the server's own process. */
  signal(name: NodeJS.Signals): void
  /** The exit code, once the process has ended; null where a signal has ended it. */
  ended(): Promise<number | null>
}

/** A fixture that several tests ask. */
export interface Shared extends Fixture {
  /** Ends it at once. Calling it twice is harmless. */
  stop(): Promise<void>
}

/** Starts a fixture on `runtime`; it ends with the test. */
export async function start(
  runtime: string,
  options: object = {},
  fixture = 'fixture.ts',
): Promise<Fixture> {
  const { ready, stop } = begin(runtime, options, fixture)
  onTestFinished(stop)
  return ready
}

/** Starts a fixture on `runtime` for several tests. */
export async function launch(
  runtime: string,
  options: object = {},
  fixture = 'fixture.ts',
): Promise<Shared> {
  const { ready, stop } = begin(runtime, options, fixture)
  return { ...(await ready), stop }
}

function begin(
  runtime: string,
  options: object,
  fixture: string,
): { readonly ready: Promise<Fixture>; stop(): Promise<void> } {
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const file = fileOf(runtime, fixture)
  const child = spawn(command, [...args, file, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { lines, said } = linesOf(child)
  const told = (name: string) => lines.find((line) => line.startsWith(name))?.slice(4) ?? ''
  const exit = once(child, 'close') as Promise<[code: number | null]>
  const ready = said('url').then(() => ({
    url: told('url '),
    said,
    lines,
    tell: (word: string) => void child.stdin?.write(`${word}\n`),
    // The runtime may have been started by a program of its package.
    signal: (name: NodeJS.Signals) => void process.kill(Number(told('pid ')), name),
    ended: async () => (await exit)[0],
  }))
  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const pid = Number(told('pid '))
    if (pid) process.kill(pid, 'SIGKILL')
    child.kill('SIGKILL')
    await exit
  }
  return { ready, stop }
}

/** What the fixture on `runtime` says when it cannot serve. */
export async function rejected(
  runtime: string,
  options: object,
  fixture = 'fixture.ts',
): Promise<string | undefined> {
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const file = fileOf(runtime, fixture)
  const child = spawn(command, [...args, file, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { lines } = linesOf(child)
  await once(child, 'close')
  return lines.find((line) => line.startsWith('rejected '))?.slice(9)
}

function fileOf(runtime: string, fixture: string): string {
  const url = new URL(fixture, import.meta.url)
  return runtime === 'node' ? programOf(url) : fileURLToPath(url)
}

function linesOf(child: ChildProcess): Pick<Fixture, 'lines' | 'said'> {
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    const parts = `${rest}${chunk}`.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    for (const look of waiting) look()
  })
  return {
    lines,
    said: (start) =>
      new Promise((resolve) => {
        const look = () => {
          if (!lines.some((line) => line.startsWith(start))) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

/** A connection that sends `text` as it is. */
export function raw(url: string, text: string): Socket {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

/** Everything that a connection receives until it ends. */
export async function received(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk
  })
  // A reset ends a connection as well as any other end.
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}
