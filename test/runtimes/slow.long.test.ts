import { describe, expect, it, type TestContext } from 'vitest'
import { launch, raw, received, type Shared } from './server.ts'

const POST = 'POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n'
const GET_BIG = 'GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const BIG = 10_000_000

/** A connection that sends `text`, then a byte of `rest` each second. */
function dripping(url: string, text: string, rest: string): Promise<string> {
  const client = raw(url, text)
  const bytes = [...rest]
  const drip = setInterval(() => client.write(bytes.shift() ?? ''), 1000)
  client.once('close', () => clearInterval(drip))
  return received(client)
}

async function started(
  { onTestFinished }: TestContext,
  runtime: string,
  options: object = {},
): Promise<Shared> {
  const fixture = await launch(runtime, options)
  onTestFinished(fixture.stop)
  return fixture
}

// Bun looks at its clocks every four seconds. All of them wait at the same time.
describe.concurrent('a slow client on bun', () => {
  it('has its time for a request, however short that for a response', async (context) => {
    const { url, said, tell } = await started(context, 'bun', { sendTimeout: 1000 })
    const waiting = fetch(`${url}/wait`)
    await said('waiting')
    expect(await dripping(url, POST, 'x'.repeat(10))).toMatch(/^HTTP\/1\.1 200 .*\r\n10$/s)
    tell('release')
    expect(await (await waiting).text()).toBe('finished')
  })

  it('is let go when its body takes longer, and the app is told', async (context) => {
    const { url, said } = await started(context, 'bun', { requestTimeout: 1000 })
    expect(await dripping(url, POST, 'x'.repeat(9))).toBe('')
    await said('interrupted')
  })

  it('is let go when its headers take long, though it goes on sending', async (context) => {
    const { url } = await started(context, 'bun')
    const head = 'GET /echo HTTP/1.1\r\nHost: x\r\nA: '
    const all = [raw(url, ''), raw(url, 'GET /ec'), raw(url, head)].map(received)
    expect(await Promise.all([...all, dripping(url, head, 'a'.repeat(60))])).toEqual([
      '',
      '',
      '',
      '',
    ])
  })

  it('is let go when it does not read', async (context) => {
    const { url, said } = await started(context, 'bun', { sendTimeout: 1000 })
    const client = raw(url, 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n').pause()
    await said('cancelled')
    client.destroy()
  })
})

describe.concurrent('a slow client on node', () => {
  // The kernel takes 1.5 MB at a time here, which is 3.5 s of this client's reading.
  it.runIf(process.platform === 'linux')(
    'is not cut when it reads a little every now and then',
    async (context) => {
      const { url } = await started(context, 'node', { sendTimeout: 3000 })
      const client = raw(url, GET_BIG)
      let size = 0
      client.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > 4_500_000) return
        client.pause()
        setTimeout(() => client.resume(), chunk.length / 430)
      })
      await new Promise((resolve) => client.once('close', resolve))
      expect(size).toBeGreaterThan(BIG)
    },
  )
})
