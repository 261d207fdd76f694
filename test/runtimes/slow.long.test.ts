import { describe, expect, it } from 'vitest'
import { raw, received, start } from './server.ts'

const POST = 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n'

/** A connection that sends `text`, then a byte of `rest` each second. */
function dripping(url: string, text: string, rest: string): Promise<string> {
  const client = raw(url, text)
  const bytes = [...rest]
  const drip = setInterval(() => client.write(bytes.shift() ?? ''), 1000)
  client.once('close', () => clearInterval(drip))
  return received(client)
}

// Bun looks at its clocks every four seconds.
describe('a slow client on bun', () => {
  it('has its time for a request, however short that for a response', async () => {
    const { url, said, tell } = await start('bun', { sendTimeout: 1000 })
    const waiting = fetch(`${url}/wait`)
    await said('waiting')
    expect(await dripping(url, POST, 'x'.repeat(10))).toMatch(/^HTTP\/1\.1 200 .*\r\n10$/s)
    tell('release')
    expect(await (await waiting).text()).toBe('finished')
  })

  it('is let go when its body takes longer, and the app is told', async () => {
    const { url, said } = await start('bun', { requestTimeout: 1000 })
    expect(await dripping(url, POST, 'x'.repeat(9))).toBe('')
    await said('interrupted')
  })

  it('is let go when its headers take long, though it goes on sending', async () => {
    const { url } = await start('bun')
    const head = 'GET /echo HTTP/1.1\r\nHost: x\r\nA: '
    const all = [raw(url, ''), raw(url, 'GET /ec'), raw(url, head)].map(received)
    expect(await Promise.all([...all, dripping(url, head, 'a'.repeat(60))])).toEqual([
      '',
      '',
      '',
      '',
    ])
  }, 60_000)
})
