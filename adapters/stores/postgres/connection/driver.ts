/** The driver's clients: what they are told of the database, whose address may be as libpq and other clients write it. */

import type { Options, Sql } from 'postgres'
import connectTo from 'postgres'
import { brokenConnection } from '../layout/errors.ts'
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
  if (!/^postgres(?:ql)?:\/\//i.test(url)) {
    throw new TypeError("postgresStore: 'url' must begin with postgres://")
  }
  const address = addressOf(url)
  let host = 0
  const make = () => {
    const onclose = () => pooled.lose(brokenConnection())
    const sql = connect(beginningWith(host, address), options, onclose)
    const pooled: PooledConnection = new PooledConnection(sql, SETTINGS)
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
    // Runtimes have the address with its password in the error for an invalid one: Deno after a colon, others beside it.
    const [problem] = (error as Error).message.split(':', 1)
    throw new TypeError(`postgresStore: ${problem}`)
  }
}

export interface Address {
  readonly url: string
  /** The folder of a Unix socket. */
  readonly host?: string
  readonly ssl?: 'verify-full'
}

/** Parameters that change nothing here. The driver would send them to the server, which refuses what it does not know. */
const IGNORED =
  /^(?:channel_binding|keepalives(?:_idle|_interval|_count)?|tcp_user_timeout|gssencmode|krbsrvname)$/

const FILES = "with the option 'ssl', such as ssl: { ca: readFileSync('ca.pem', 'utf8') }"

/** Parameters that mean something to other clients, with what to write instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['schema', "Write it as the option 'schema' of postgresStore"],
  ['pgbouncer', "Write the option 'prepare: false' of postgresStore"],
  ['statement_cache_size', "Write the option 'prepare: false' of postgresStore"],
  ['connection_limit', "Write it as the option 'max' of postgresStore"],
  ...['sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslcrl'].map(
    (name) => [name, `Give the certificates ${FILES}`] as const,
  ),
  ...['sslaccept', 'sslidentity'].map((name) => [name, "Write the option 'ssl'"] as const),
  ...['pool_timeout', 'socket_timeout'].map((name) => [name, 'Leave it out'] as const),
  ...['timezone', 'datestyle', 'client_encoding'].map(
    (name) => [name, 'Leave it out: the store needs a certain one'] as const,
  ),
])

/** The address that `url` stands for. Throws a `TypeError` if it has a parameter that would not be followed. */
export function addressOf(url: string): Address {
  const [base = '', query] = url.split(/\?(.*)/s)
  const kept: [string, string][] = []
  let address: Omit<Address, 'url'> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const advice = REFUSED.get(name.toLowerCase())
    if (name === 'host' && value.startsWith('/')) address = { ...address, host: value }
    else if (name === 'sslrootcert' && value === 'system')
      address = { ...address, ssl: 'verify-full' }
    else if (advice) throw new TypeError(`postgresStore: the url has '${name}'. ${advice}`)
    else if (!IGNORED.test(name)) kept.push([name, value])
  }
  const hosted = withHost(base)
  const parameters = new URLSearchParams(kept).toString()
  return { ...address, url: parameters ? `${hosted}?${parameters}` : hosted }
}

/** The driver reads no address without a host, which one of a socket is. */
function withHost(url: string): string {
  const [before, hosts, after] = hostsIn(url)
  const isNowhere = before !== '' && (hosts === '' || hosts.startsWith(':'))
  return isNowhere ? `${before}localhost${hosts}${after}` : url
}

/** An address in three parts: what is before its hosts, they, and what is behind them. Empty if it has no `//`. */
export function hostsIn(url: string): readonly [before: string, hosts: string, after: string] {
  const slashes = url.indexOf('://')
  if (slashes < 0) return ['', '', '']
  const start = slashes + '://'.length
  const rest = url.slice(start).search(/[/?]/)
  const end = rest < 0 ? url.length : start + rest
  const from = start + url.slice(start, end).lastIndexOf('@') + 1
  return [url.slice(0, from), url.slice(from, end), url.slice(end)]
}
