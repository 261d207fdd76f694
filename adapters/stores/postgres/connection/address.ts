/**
 * The address of a database, as libpq and other clients write it.
 *
 * @module
 */

/** What the driver is given of an address. */
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
