/**
 * The driver's clients: what they are told of the database.
 *
 * @module
 */

import connectTo, { type Options, type Sql } from 'postgres'
import { brokenConnection } from '../layout/errors.ts'
import { type Address, addressOf, hostsIn } from './address.ts'
import { type ConnectionMaker, PooledConnection } from './pooled-connection.ts'

/** Where the database is, and how it is used. */
export interface ConnectionOptions {
  readonly url?: string | undefined
  readonly client?: Sql | undefined
  readonly max: number
  readonly ssl?: Options<Record<string, never>>['ssl'] | undefined
  readonly prepare: boolean
}

/** The types that the driver would parse: json, jsonb, numbers, booleans, dates and bytes. */
const TYPES_AS_TEXT = [114, 3802, 21, 23, 26, 700, 701, 16, 1082, 1114, 1184, 17]

/**
 * The first statement of a connection undoes what a database or a role may have set: numbers with digits cut off, and
 * catalogue texts with all names quoted. Poolers refuse both as parameters of a connection.
 */
const SETTINGS = `SELECT set_config(name, CASE vartype WHEN 'bool' THEN 'off' ELSE '1' END, false) FROM pg_settings
  WHERE name = 'extra_float_digits' AND setting !~ '^[123]$' OR name = 'quote_all_identifiers' AND setting = 'on'`

/** Connections to the database of `options`. Throws a `TypeError` if they make no sense. */
export function connectionMaker(options: ConnectionOptions): ConnectionMaker {
  const { url, client, max } = options
  if (client) {
    const most = client.options.max
    return { most, make: () => new PooledConnection(client), end: async () => {} }
  }
  if (!url) throw new TypeError("postgresStore: 'url' or 'client' is needed")
  const address = addressOf(url)
  let host = 0
  const make = () => {
    const onclose = () => pooled.lose(brokenConnection())
    const pooled: PooledConnection = new PooledConnection(
      connect(beginningWith(host, address), options, onclose),
      SETTINGS,
    )
    return pooled
  }
  const end = (pooled: PooledConnection) => {
    // The connection after one that was lost begins with the next host.
    if (pooled.isLost) host += 1
    return pooled.sql.end({ timeout: pooled.isLost ? 0 : 5 })
  }
  return { most: max, make, end }
}

/** The same with another one of its hosts as the first. */
function beginningWith(host: number, address: Address): Address {
  const [before, list, after] = hostsIn(address.url)
  const hosts = list.split(',')
  if (hosts.length === 1) return address
  const first = host % hosts.length
  const turned = [...hosts.slice(first), ...hosts.slice(0, first)].join()
  return { ...address, url: before + turned + after }
}

/** One connection that is opened for the first statement. */
function connect(address: Address, options: ConnectionOptions, onclose: () => void): Sql {
  const { url, host } = address
  const ssl = options.ssl ?? address.ssl
  const { prepare } = options
  const isSeveral = hostsIn(url)[1].includes(',')
  try {
    return connectTo(url, {
      max: 1,
      prepare,
      ...(ssl !== undefined && { ssl }),
      ...(host !== undefined && { host }),
      ...(isSeveral &&
        !url.includes('target_session_attrs') && { target_session_attrs: 'read-write' }),
      connect_timeout: 4,
      backoff: () => 0.1,
      // The connections see to both. The driver would end a connection under the next statement.
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      types: { text: { to: 25, from: TYPES_AS_TEXT, serialize: String, parse: (x: string) => x } },
      onnotice: () => {},
      onclose,
      connection: { application_name: 'fieldgate', TimeZone: 'UTC', DateStyle: 'ISO' },
    })
  } catch (error) {
    throw new TypeError(`postgresStore: ${(error as Error).message}`, { cause: error })
  }
}
