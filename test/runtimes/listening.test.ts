import { describe, expect, it } from 'vitest'
import { listening, type ServeOptions } from '../../adapters/runtimes/server.ts'

describe('where to listen', () => {
  it('is port 3000 on every interface unless said otherwise', () => {
    expect(listening({})).toEqual({ port: 3000, hostname: undefined })
    expect(listening({ port: 0, hostname: 'localhost' })).toEqual({
      port: 0,
      hostname: 'localhost',
    })
  })

  it('is an address of IPv6 with or without brackets', () => {
    for (const hostname of ['::1', '[::1]']) {
      expect(listening({ hostname }).hostname).toBe('::1')
    }
  })

  it.each<object>([
    ...[-1, 1.5, 65_536, Number.NaN, '3000', null].map((port) => ({ port })),
    ...['', ' ', 0, null].map((hostname) => ({ hostname })),
    { headersTimeout: '5s' },
    { requestTimeout: -1 },
    { signal: undefined },
    { toString: 1 },
  ])('is not %j', (options) => {
    const [name] = Object.keys(options)
    expect(() => listening(options as ServeOptions)).toThrow(`'${name}'`)
  })
})
