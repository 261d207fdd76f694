/**
 * The Host header (RFC 9112, 3.2): a host and an optional port, once.
 *
 * Runtimes build a request's URL of it. A Host such as `h/notes?` would choose the route on some of them, past a proxy
 * that filters by path and past its log.
 *
 * @module
 */

import { badHost } from './refusals.ts'

/**
 * A name or an IPv4 address, or an address of IPv6 in brackets; then a port. A request with two Hosts arrives as `a, b`.
 */
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/

/** A name has at most 253 characters (RFC 1035, 2.3.4); a dot may end it, and a port may follow. */
const MAX_LENGTH = 260

/**
 * Throws a 400 for a Host that is anything but a host and an optional port. It may be left out, as HTTP/1.0 and HTTP/2
 * do, and it may be empty, which RFC 9112 asks for where the target has no authority.
 */
export function checkHost(host: string | null): void {
  if (host === null || host === '') return
  // A real parser decides on the numbers: 65536 is no port, 1.2.3.400 and [1:2] are no addresses.
  if (host.length > MAX_LENGTH || !HOST.test(host) || !URL.canParse(`http://${host}`))
    throw badHost()
}
