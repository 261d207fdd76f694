import { describe, expect, it } from 'vitest'
import { RUNTIMES } from './commands.ts'
import { raw, received, start } from './server.ts'

describe.each(Object.keys(RUNTIMES))('a signal to serve on %s', (runtime) => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s finishes what is in flight, and ends with exit code 0',
    async (name) => {
      const { url, said, lines, tell, signal, ended } = await start(runtime)
      await fetch(`${url}/background`)
      const inFlight = fetch(`${url}/wait`)
      await said('waiting')
      signal(name)
      await expect.poll(() => accepts(url)).toBe(false)
      tell('release')
      expect(await (await inFlight).text()).toBe('finished')
      expect(await ended()).toBe(0)
      expect(lines.slice(-2)).toEqual(['worked', 'app closed'])
    },
  )

  it.each([
    ['a hook that never ends', 'GET /wait HTTP/1.1\r\nHost: x\r\n\r\n', 'waiting'],
    ['half a body', 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc', 'reading'],
  ])(
    'cuts %s when the grace has run out, closes the app, and ends with exit code 1',
    async (_, text, seen) => {
      const { url, said, lines, signal, ended } = await start(runtime, { graceMs: 500 })
      const client = received(raw(url, text))
      await said(seen)
      const before = performance.now()
      signal('SIGTERM')
      expect(await ended()).toBe(1)
      // By default it would have 25 seconds.
      expect(performance.now() - before).toBeLessThan(15_000)
      expect(lines).toContain('app closed')
      await client
    },
  )

  it('ends it at once the second time', async () => {
    const { url, said, signal, ended } = await start(runtime)
    const client = received(raw(url, 'GET /wait HTTP/1.1\r\nHost: x\r\n\r\n'))
    await said('waiting')
    signal('SIGINT')
    await expect.poll(() => accepts(url)).toBe(false)
    signal('SIGINT')
    expect(await ended()).toBe(130)
    await client
  })

  it('is left to the program with signals: false', async () => {
    const { lines, signal, ended } = await start(runtime, { signals: false })
    signal('SIGTERM')
    expect(await ended()).not.toBe(0)
    expect(lines).not.toContain('app closed')
  })
})

function accepts(url: string): Promise<boolean> {
  return fetch(`${url}/echo`).then(
    () => true,
    () => false,
  )
}
