import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { raw, received, rejected, start } from './server.ts'

/** The timeouts that a runtime has nothing for. */
const IGNORED: Readonly<Record<string, readonly string[]>> = {
  node: [],
  deno: ["'headersTimeout' 'requestTimeout' 'sendTimeout'"],
  bun: ["'headersTimeout'"],
}

/** What `serve` does on every runtime. */
export function serving(runtime: string): void {
  describe(`serve on ${runtime}`, () => {
    it('accepts requests once it has resolved, at the address that it names', async () => {
      const { url, lines } = await start(runtime)
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect(lines).toContain('ready')
      const response = await fetch(`${url}/echo`)
      expect(await response.json()).toEqual({ method: 'GET', body: '' })
    })

    it('delivers QUERY with its body', async () => {
      const { url } = await start(runtime)
      const response = await fetch(`${url}/echo`, { method: 'QUERY', body: '{"filter":{}}' })
      expect(await response.json()).toEqual({ method: 'QUERY', body: '{"filter":{}}' })
    })

    it('rejects with EADDRINUSE when the port is taken', async () => {
      const { url } = await start(runtime)
      expect(await rejected(runtime, { port: Number(new URL(url).port) })).toBe('EADDRINUSE')
    })

    it('refuses options that make no sense, by their name', async () => {
      const refused: [object, string][] = [
        [{ port: 70_000 }, `'port' must be a whole number from 0 to 65535`],
        [{ hostname: '' }, `'hostname' must be a name or an address`],
        [{ hostnaem: '127.0.0.1' }, `unknown option 'hostnaem'. Did you mean 'hostname'?`],
      ]
      for (const [options, why] of refused) {
        expect(await rejected(runtime, options)).toBe(`TypeError: serve: ${why}`)
      }
    })

    it('warns of timeouts that do nothing there, and of no others', async () => {
      const given = { headersTimeout: 5000, requestTimeout: 60_000, sendTimeout: 30_000 }
      const { lines } = await start(runtime, given)
      const told = lines.filter(
        (line) => line.includes('does nothing') || line.includes('do nothing'),
      )
      expect(told.map((line) => line.match(/'\w+'/g)?.join(' '))).toEqual(IGNORED[runtime])
      const silent = await start(runtime)
      expect(silent.lines.filter((line) => line.includes('nothing on'))).toEqual([])
    })

    it('finishes what is in flight, then the background work, then the app, and accepts nothing meanwhile', async () => {
      const { url, said, lines, tell } = await start(runtime)
      await fetch(`${url}/background`)
      const inFlight = fetch(`${url}/wait`)
      await said('waiting')
      tell('close')
      await expect.poll(() => accepts(url)).toBe(false)
      tell('release')
      const response = await inFlight
      expect(await response.text()).toBe('finished')
      await said('closed')
      expect(lines.slice(-3)).toEqual(['worked', 'app closed', 'closed'])
    })

    it('answers on a connection that is used again at the moment of the close', async () => {
      const { url, said, tell } = await start(runtime)
      const client = raw(url, 'GET /echo HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(client, 'data')
      const second = received(client)
      tell('close')
      client.write('GET /echo HTTP/1.1\r\nHost: x\r\n\r\n')
      expect(await second).toMatch(/^HTTP\/1\.1 200 /)
      await said('closed')
    })

    it('closes at once when only idle connections are left', async () => {
      const { url, said, tell } = await start(runtime)
      const idle = raw(url, 'GET /echo HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(idle, 'data')
      const before = performance.now()
      tell('close')
      await said('closed')
      // Node would keep it for five seconds.
      expect(performance.now() - before).toBeLessThan(4500)
    })

    it('closes soon though connections have asked for nothing, or sent half a head', async () => {
      const { url, said, tell } = await start(runtime)
      const silent = [raw(url, ''), raw(url, 'GET /echo HTTP/1.1\r\nHo')]
      await Promise.all(silent.map((socket) => once(socket, 'connect')))
      // A connection that was made before the others has been accepted after an answer on a later one.
      await fetch(`${url}/echo`)
      const before = performance.now()
      tell('close')
      await said('closed')
      // They have a part of the grace of 25 seconds, not all of it.
      expect(performance.now() - before).toBeLessThan(12_000)
    })

    it('finishes a body that it sends, and one that it reads, however long after the close', async () => {
      const { url, said, tell } = await start(runtime)
      const response = await fetch(`${url}/parts`)
      const client = raw(url, 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
      const answer = received(client)
      await said('reading')
      tell('close')
      await sleep(2500)
      tell('release')
      client.write('def')
      expect(await response.text()).toBe('first last')
      expect(await answer).toMatch(/^HTTP\/1\.1 200 /)
      await said('closed')
    })

    it('cancels the body that a client no longer reads, and goes on', async () => {
      const { url, said, lines } = await start(runtime)
      const client = raw(url, 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(client, 'data')
      client.destroy()
      await said('cancelled')
      expect((await fetch(`${url}/echo`)).status).toBe(200)
      expect(lines.filter((line) => line.startsWith('unhandled'))).toEqual([])
    })

    it('tells a client that sends all of a body before it reads that it was refused', async () => {
      const { url } = await start(runtime)
      // More than the kernel holds for both.
      const chunk = Buffer.alloc(1024 * 1024)
      const length = `Content-Length: ${24 * chunk.length}`
      const client = raw(url, `POST /begun HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`)
      const answer = once(client.pause(), 'readable')
      for (let sent = 0; sent < 24; sent += 1) {
        if (sent === 12) await sleep(1500)
        await promisify(client.write).call(client, chunk)
      }
      await answer
      expect(`${client.read()}`).toMatch(/^HTTP\/1\.1 413 /)
    })

    it('tells the app of a client that leaves within its body, and goes on', async () => {
      const { url, said, lines } = await start(runtime)
      const client = raw(url, 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc')
      await said('reading')
      client.destroy()
      await said('interrupted')
      expect((await fetch(`${url}/echo`)).status).toBe(200)
      expect(lines.filter((line) => line.startsWith('unhandled'))).toEqual([])
    })
  })
}

function accepts(url: string): Promise<boolean> {
  return fetch(`${url}/echo`).then(
    () => true,
    () => false,
  )
}
