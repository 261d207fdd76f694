/**
 * PgBouncer for tests, from the PATH: Debian's package `pgbouncer`.
 *
 * @module
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onPath } from './binary.ts'
import { type Postgres, run, startPostgres } from './postgres.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** Starts PgBouncer in transaction mode, in front of a PostgreSQL with nothing in it. */
export async function pgbouncer(): Promise<Postgres> {
  const command = await onPath(['pgbouncer'])
  if (command === undefined) throw new Error('pgbouncer is not installed')
  const database = await startPostgres()
  const [port] = await freePorts(1)
  const folder = await newFolder('pgbouncer')
  const file = join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    // It refuses to run as root.
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const target = `fieldgate = host=127.0.0.1 port=${database.port} user=fieldgate`
  await writeFile(file, ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'))
  const url = `postgres://fieldgate@127.0.0.1:${port}/fieldgate`
  const ready = () => run(url, 'SELECT 1')
  const server = await startServer({ command, args: [file], folder, ready })
  return {
    url,
    async stop() {
      await server.stop()
      await database.stop()
    },
  }
}
