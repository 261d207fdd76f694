/**
 * The Host header (RFC 9112, 3.2): a host and an optional port, once.
 *
 * Runtimes build a request's URL from it. On some of them a Host such as `h/notes?` would choose the route, bypassing a
 * proxy that filters by path, and its log.
 */

import { badHost } from './errors/refusals.ts'

/** A name or an IPv4 address, or an IPv6 address in brackets; then a port. A request with two Hosts arrives as `a, b`. */
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/

/** A name has at most 253 characters (RFC 1035, 2.3.4), and may be followed by a dot and a port. */
const MAX_LENGTH = 260

/**
 * Returns the Host header. Throws a 400 unless it is a host and an optional port. It may be missing, as in HTTP/1.0 and
 * HTTP/2, and it may be empty, which RFC 9112 requires if the target has no authority.
 */
export function checkHost(host: string | null): string | null {
  if (host === null || host === '') return host
  // A real parser checks the numbers: 65536 is not a port, 1.2.3.400 and [1:2] are not addresses.
  if (host.length > MAX_LENGTH || !HOST.test(host) || !URL.canParse(`http://${host}`))
    throw badHost()
  return host
}

/** This machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3), as written in URLs. */
const LOOPBACK = /(?:^|\.)localhost$|^127(?:\.\d+){3}$|^\[::1\]$/

export function isLoopback(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname)
}
