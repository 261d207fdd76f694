import { describe, expect, it } from 'vitest'
import { ServerPlatform } from '../../adapters/runtimes/client-address.ts'
import { background } from '../../adapters/runtimes/server.ts'

/** The address that an app sees. */
function seen(
  trustProxy: number,
  peer: string | undefined,
  forwarded?: string,
): string | undefined {
  const headers: Record<string, string> = forwarded ? { 'x-forwarded-for': forwarded } : {}
  const request = new Request('http://localhost/', { headers })
  const shared = { work: background(), trustProxy }
  return new ServerPlatform(shared, request, () => peer, false).clientAddress
}

describe("context.clientAddress is the connection's other end", () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::1', '::1'],
    ['2001:DB8::7', '2001:db8::7'],
    ['fe80::1%eth0', 'fe80::1'],
    [undefined, undefined],
  ])('%s', (peer, address) => {
    expect(seen(0, peer)).toBe(address)
    expect(seen(0, peer, '203.0.113.7')).toBe(address)
  })
})

describe('behind proxies it is the address that the outermost trusted one has seen', () => {
  it.each([
    [1, '203.0.113.7', '203.0.113.7'],
    [1, '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    [2, '198.51.100.1, 203.0.113.7', '198.51.100.1'],
    [2, 'spoofed, 198.51.100.1, 203.0.113.7', '198.51.100.1'],
    [1, '198.51.100.1,203.0.113.7:4711', '203.0.113.7'],
    [1, '[2001:db8::7]:4711', '2001:db8::7'],
    [1, '2001:db8::7', '2001:db8::7'],
  ])('%i of %s', (trustProxy, forwarded, address) => {
    expect(seen(trustProxy, '10.0.0.1', forwarded)).toBe(address)
  })

  it.each([
    [1, undefined],
    [2, '203.0.113.7'],
    [1, '203.0.113.7, unknown'],
    [1, '203.0.113.7, '],
    [1, 'x'.repeat(100_000)],
  ])('and the peer where it has said nothing: %i, %s', (trustProxy, forwarded) => {
    expect(seen(trustProxy, '10.0.0.1', forwarded)).toBe('10.0.0.1')
  })
})
