/** The client's address: the other end of the connection, or the client that trusted proxies name. */

import type { Background } from './server.ts'

export interface Shared {
  readonly work: Background
  readonly trustProxy: number | undefined
}

/**
 * The third argument of `app.handle`; the address is computed only when it is read. A class, because V8 creates a new hidden
 * class for each object literal with a getter, which costs more than everything else.
 */
export class ServerPlatform {
  readonly isRefused: boolean
  readonly #shared: Shared
  /** Until the address was asked for: a stream may keep the platform for long. */
  #request: Request | undefined
  #peer: (() => string | undefined) | undefined
  #address: string | undefined

  constructor(
    shared: Shared,
    request: Request,
    peer: () => string | undefined,
    isRefused: boolean,
  ) {
    this.#shared = shared
    this.#request = request
    this.isRefused = isRefused
    this.#peer = peer
  }

  get clientAddress(): string | undefined {
    if (this.#request && this.#peer) {
      const { trustProxy: nth = 0 } = this.#shared
      const forwarded = nth > 0 ? this.#request.headers.get('x-forwarded-for') : null
      this.#address = forwardedAddress(forwarded, nth) ?? plainAddress(this.#peer())
      this.#request = undefined
      this.#peer = undefined
    }
    return this.#address
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#shared.work.waitUntil(promise)
  }
}

/**
 * The `nth` address from the right of an `X-Forwarded-For`: each of `nth` trusted proxies has appended the address that
 * it saw, and anything to the left may be forged by the client. Undefined if the header is shorter, because the request
 * then bypassed a proxy, or if it holds no address there.
 */
function forwardedAddress(header: string | null, nth: number): string | undefined {
  return plainAddress(header?.split(',').at(-nth)?.trim())
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const IPV6 = /^[0-9a-f:]{2,39}$/i

/** An address without brackets, port, zone and the prefix of an IPv4 address in IPv6; undefined for anything else. */
export function plainAddress(text = ''): string | undefined {
  const [, bracketed] = /^\[([^\]]*)\]/.exec(text) ?? []
  const withoutPort = bracketed ?? (text.split(':').length === 2 ? text.split(':')[0] : text) ?? ''
  const [address = ''] = withoutPort.replace(/^::ffff:(\d+\.)/i, '$1').split('%')
  if (IPV4.test(address)) return address
  return IPV6.test(address) && address.includes(':') ? address.toLowerCase() : undefined
}
