/** Identifies the client of a request, to count floods and guesses: the `client` option. */

import type { ApiRequest } from '../../http/request.ts'
import { atOnce } from '../../ports/synchronous.ts'
import type { Context } from '../../records/engine/route.ts'

/** Returns a key for the client that sent a request; undefined if it is unknown. */
export type ClientOption = (request: ApiRequest, context: Context) => string | undefined

/** The address of the connection, if the context has it. */
export const byAddress: ClientOption = (_, context) => {
  const { clientAddress } = context as { readonly clientAddress?: unknown }
  return typeof clientAddress === 'string' ? networkOf(clientAddress) : undefined
}

/**
 * IPv6 customers have at least a /64 each (RFC 6177), so all its addresses are one client. An IPv4 address is one
 * client.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.toLowerCase().split('%')
  if (!bare.includes(':')) return bare
  const [, mapped] = /^(?:0*:)*(?:ffff:)(\d+\.\d+\.\d+\.\d+)$/.exec(bare) ?? []
  if (mapped !== undefined) return mapped
  const [head = '', tail] = bare.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(.)/, '$1'))
    .join(':')}::/64`
}

const MAX_KEY_LENGTH = 256

/** The key that `option` returns, cut to a sensible length. */
export function clientOf(
  option: ClientOption,
  request: ApiRequest,
  context: Context,
): string | undefined {
  const key: unknown = atOnce(
    "'client' of the auth router",
    option(request, context),
    context.logger,
  )
  return typeof key === 'string' && key !== '' ? key.slice(0, MAX_KEY_LENGTH) : undefined
}
