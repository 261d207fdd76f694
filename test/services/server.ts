/**
 * Server processes for tests: each on free ports of 127.0.0.1, in a folder of its own, in memory where there is room, and
 * gone with the process that started it.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { databases } from './memory.ts'

/** A running server. */
export interface Server {
  /** Sends a signal to the process. It has stopped when a `SIGSTOP` was sent. */
  signal(name: NodeJS.Signals): void
  /** Ends the process at once and removes its folder. Calling it twice is harmless. */
  stop(): Promise<void>
}

/** What to run. */
export interface ServerOptions {
  readonly command: string
  readonly args: readonly string[]
  /** A folder for its data, removed when it stops; see `newFolder`. */
  readonly folder: string
  /** Paths that it leaves elsewhere, removed too. */
  readonly litter?: readonly string[]
  /** Resolves once the server answers; rejections mean "not yet". */
  ready(): Promise<unknown>
}

/** How long a server may take to answer. */
const PATIENCE_MS = 60_000

/** Starts a server and waits until it is ready. Rejects with its last words when it is not. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const guardFile = fileURLToPath(new URL('guard.ts', import.meta.url))
  const { folder, litter = [], command, args } = options
  const guard = spawn(
    process.execPath,
    ['--no-warnings', guardFile, JSON.stringify([folder, ...litter]), folder, command, ...args],
    // A session of its own, so that an interrupt from the terminal reaches us first and it can clean up.
    { detached: true, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  let gone = false
  guard.stdout.on('close', () => {
    gone = true
  })
  const exited = once(guard, 'exit')
  const stop = async () => {
    // Who waits for the end is kept alive until then.
    guard.ref()
    guard.stdin.end()
    await exited
  }
  const [pid] = await Promise.race([once(guard.stdout, 'data'), exited])
  try {
    await untilReady(
      () => options.ready(),
      () => gone,
    )
  } catch (error) {
    const output = await readFile(join(folder, 'output'), 'utf8').catch(() => '')
    await stop()
    throw new Error(`${command} did not start:\n${output.slice(-2000)}`, { cause: error })
  }
  // The server must not keep a process alive that has nothing else to do.
  guard.unref()
  for (const pipe of [guard.stdin, guard.stdout]) (pipe as unknown as { unref(): void }).unref()
  return { signal: (name) => signalTo(Number(pid), name), stop }
}

/** On a busy machine other threads go on for a while after one has got the `SIGSTOP`. */
function signalTo(pid: number, name: NodeJS.Signals): void {
  process.kill(pid, name)
  if (name !== 'SIGSTOP' || process.platform !== 'linux') return
  const threads = `/proc/${pid}/task`
  const hasStopped = (id: string) => {
    try {
      return /\) T /.test(readFileSync(`${threads}/${id}/stat`, 'latin1'))
    } catch {
      // The thread has ended.
      return false
    }
  }
  while (!readdirSync(threads).every(hasStopped));
}

/** Waits until `ready` succeeds; throws its error when patience ends, or at once when the server is `gone`. */
export async function untilReady(
  ready: () => Promise<unknown>,
  gone: () => boolean = () => false,
): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      await ready()
      return
    } catch (error) {
      if (gone() || Date.now() > deadline) throw error
      await delay(50)
    }
  }
}

/** A new folder for a server's data. */
export function newFolder(name: string): Promise<string> {
  return mkdtemp(join(databases(), `fieldgate-${name}-`))
}

/**
 * `count` ports of 127.0.0.1 that are free now. They are below those that the system gives to connections and for port 0:
 * one of those could be somebody's before the server listens that it is meant for.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = randomInt(11_000, 32_000)
    if (!ports.includes(port) && (await isFree(port))) ports.push(port)
  }
  return ports
}

async function isFree(port: number): Promise<boolean> {
  const listener = createServer().listen(port, '127.0.0.1')
  try {
    await once(listener, 'listening')
  } catch {
    return false
  }
  await once(listener.close(), 'close')
  return true
}
