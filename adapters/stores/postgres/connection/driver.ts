/** The driver's clients: what they are told of the database, whose address may be as libpq and other clients write it. */

import type { Options, Sql } from 'postgres'
import connectTo from 'postgres'
import { type Fail, failAs } from '../../../../src/model/option-rules.ts'
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

const fail: Fail = failAs('postgresStore')

/** The types that the driver would parse: json, jsonb, numbers, booleans, dates and bytes. */
const TYPES_AS_TEXT = [114, 3802, 21, 23, 26, 700, 701, 16, 1082, 1114, 1184, 17]

/**
 * The first statement of a connection undoes what a database or a role may have set: numbers with digits cut off, and
 * catalogue texts with all names quoted, or each backslash doubled. Poolers refuse these as parameters of a connection.
 */
const SETTINGS = `SELECT set_config(name, CASE setting WHEN 'on' THEN 'off' WHEN 'off' THEN 'on' ELSE '1' END, false) FROM pg_settings
  WHERE name = 'extra_float_digits' AND setting !~ '^[123]$'
    OR (name, setting) IN (('quote_all_identifiers', 'on'), ('standard_conforming_strings', 'off'))`

/** Connections to the database of `options`. Throws a `TypeError` if they make no sense. */
export function connectionMaker(options: ConnectionOptions): ConnectionMaker {
  const { url, client, max, ssl } = options
  if (client) {
    const most = client.options.max
    return { most, make: () => new PooledConnection(client), end: async () => {} }
  }
  if (!url) return fail("'url' or 'client' is needed")
  if (!/^postgres(?:ql)?:\/\//i.test(url)) fail("'url' must begin with postgres://")
  const address = addressOf(url)
  const isTls = ssl ?? address.ssl ?? /[?&]ssl(?:mode)?=/.test(address.url)
  // The driver would go on without encryption.
  if (!isTls && address.url.includes('sslnegotiation=direct')) {
    fail("the url's 'sslnegotiation=direct' needs 'sslmode=require' or 'verify-full' beside it")
  }
  let host = 0
  const make = () => {
    const onclose = () => pooled.lose(brokenConnection())
    const first = host % address.places.length
    const places = [...address.places.slice(first), ...address.places.slice(0, first)]
    const sql = connect({ ...address, places }, options, onclose)
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

/** One connection that is opened for the first statement. */
function connect(address: Address, options: ConnectionOptions, onclose: () => void): Sql {
  const { url, places, ssl: ownSsl, ...named } = address
  const { prepare, ssl = ownSsl } = options
  const [{ host, port }] = places as [Place]
  try {
    return connectTo(url, {
      max: 1,
      prepare,
      ...(named as Partial<Record<keyof typeof named, string>>),
      // The driver takes lists, which its types do not know.
      host: places.map((place) => place.host) as unknown as string,
      port: places.map((place) => place.port) as unknown as number,
      ...(host.startsWith('/') && { path: `${host}/.s.PGSQL.${port}` }),
      ...(ssl !== undefined && { ssl }),
      ...(places.length > 1 &&
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
    fail(`${problem}`)
  }
}

interface Place {
  /** A name, an address without brackets, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

export interface Address {
  /** What the driver reads the rest of: its first host stands for all. */
  readonly url: string
  readonly places: readonly Place[]
  /** Empty if the address names none. */
  readonly database: string
  readonly user: string | undefined
  readonly password: string | undefined
  readonly ssl: 'verify-full' | undefined
}

/** Parameters that stand for a part of the address. */
const PARTS = new Set(['host', 'port', 'dbname', 'user', 'password'])

/** They ask for the right server. The driver has no channel binding: the server's certificate tells as much. */
const TRUSTED = new Set(['sslrootcert=system', 'channel_binding=require'])

/** Parameters that change nothing here. The driver would send them to the server, which refuses what it does not know. */
const IGNORED =
  /^(?:channel_binding|keepalives(?:_idle|_interval|_count)?|tcp_user_timeout|gssencmode|krbsrvname|supa|uselibpqcompat)$/

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
  ['sslmode=no-verify', "Write 'sslmode=require', which is that"],
  ['gssencmode=require', "Write 'sslmode' instead: connections are encrypted by TLS alone"],
  ...['timezone', 'datestyle', 'client_encoding'].map(
    (name) => [name, 'Leave it out: the store needs a certain one'] as const,
  ),
])

/** The address that `url` stands for, as libpq reads it. Throws a `TypeError` if it has a parameter that would not be followed. */
export function addressOf(url: string): Address {
  const [base = '', query] = url.split(/\?(.*)/s)
  const kept: [string, string][] = []
  const given = new Map<string, string>()
  let isTrusted = false
  for (const [name, value] of new URLSearchParams(query)) {
    const advice = REFUSED.get(name.toLowerCase()) ?? REFUSED.get(`${name}=${value}`)
    if (PARTS.has(name)) given.set(name, value)
    else if (TRUSTED.has(`${name}=${value}`)) isTrusted = true
    else if (advice) fail(`the url has '${name}'. ${advice}`)
    else if (!IGNORED.test(name)) kept.push([name, value])
  }
  const [, before, list, path] = ADDRESS.exec(base) as unknown as Four
  return {
    url: `${before}localhost${path}?${new URLSearchParams(kept)}`,
    places: placesOf(list, given),
    database: given.get('dbname') ?? decoded(path.slice(1)),
    user: given.get('user'),
    password: given.get('password'),
    ssl: isTrusted ? 'verify-full' : undefined,
  }
}

type Four = readonly [string, string, string, string]

/** What is before the hosts of an address, they, and the path to its database. */
const ADDRESS = /^(\w+:\/\/(?:[^/]*@)?)([^/]*)(.*)$/s

const PLACE = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/

/** Where the database is: `a:1,b`, `[::1]:1`, or a folder with its slashes written as `%2F`. */
function placesOf(list: string, given: ReadonlyMap<string, string>): Place[] {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  const listed = list.split(',').map((one) => {
    const [, host = '', port] =
      PLACE.exec(one) ??
      fail("the url's hosts cannot be read. In a password, write %2F for a slash")
    return [decoded(host), port] as const
  })
  const ports = given.get('port')?.split(',') ?? listed.map(([, port]) => port)
  const hosts = given.get('host')?.split(',') ?? listed.map(([host]) => host)
  return hosts.map((host, at) => {
    const port = (ports.length > 1 ? ports[at] : ports[0]) || process?.env?.PGPORT || 5432
    return { host: host.replace(/^\[|\]$/g, '') || 'localhost', port: Number(port) }
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return fail("the url has a '%' that begins no character")
  }
}
