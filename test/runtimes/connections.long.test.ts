import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { RUNTIMES } from './commands.ts'
import { raw, received, start } from './server.ts'

const GET_BIG = 'GET /big HTTP/1.1\r\nHost: x\r\n\r\n'
const LAST = 'GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const BIG = 10_000_000

/** The bytes that a connection receives until it ends. */
async function sizeOf(socket: Socket): Promise<number> {
  let size = 0
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return size
}

describe.each(Object.keys(RUNTIMES))('one connection on %s', (runtime) => {
  it('handles one request at a time, and all of them in the end', async () => {
    const { url, said, lines } = await start(runtime)
    const client = raw(url, GET_BIG.repeat(60) + LAST)
    await said('big')
    const memory = async () => (await (await fetch(`${url}/memory`)).json()) as number
    const before = await memory()
    // Answers on other connections give this one its chances to go ahead.
    for (let round = 0; round < 50; round += 1) await fetch(`${url}/echo`)
    const asked = lines.filter((line) => line === 'big').length
    expect(asked).toBeLessThan(5)
    expect((await memory()) - before).toBeLessThan(100e6)
    const size = await sizeOf(client)
    // Bun ends a connection whose client asked on and read late.
    if (runtime === 'bun') return
    expect(size).toBeGreaterThan(60 * BIG)
    expect(lines.filter((line) => line === 'big')).toHaveLength(60)
  })
})

describe('one connection on node', () => {
  it('answers whatever comes in one piece in its order, bodies and refusals too', async () => {
    const { url } = await start('node')
    const post = (body: string) =>
      `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const bodies = Array.from({ length: 300 }, (_, index) => `${index}`.padStart(500, '.'))
    const client = raw(url, bodies.map(post).join('') + LAST)
    const texts = (await received(client)).matchAll(/"body":"\.*(\d+)"/g)
    expect([...texts].map(([, text]) => Number(text))).toEqual(bodies.map((_, index) => index))
  })

  it('answers what came before invalid HTTP, and then that, whatever its client goes on sending', async () => {
    const { url } = await start('node')
    const echo = 'GET /echo HTTP/1.1\r\nHost: x\r\n\r\n'
    const rest = 'x'.repeat(3_000_000)
    for (const bad of ['GET /a b HTTP/1.1\r\n', `GET / HTTP/1.1\r\nA: ${rest}`, 'ÿ']) {
      const before = raw(url, GET_BIG + echo + bad + rest).pause()
      const alone = received(raw(url, bad + rest))
      // The server has all that it takes of the requests before the client reads a response.
      for (let round = 0; round < 20; round += 1) await fetch(`${url}/echo`)
      const text = await received(before.resume())
      const heads = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)]
      expect(heads.map(([, status]) => status)).toEqual(['200', '200', expect.stringMatching(/^4/)])
      expect(heads[1]?.index).toBeGreaterThan(BIG)
      expect(await alone).toMatch(/^HTTP\/1\.1 4/)
      expect((text + (await alone)).match(/"success":false/g)).toHaveLength(2)
    }
  })

  it.each([
    ['after Connection: close', 'Connection: close\r\n', '', ['200']],
    ['after a tunnel', '', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', ['200', '404']],
  ])('sends all of a response whose client sends on %s', async (_, header, tunnel, statuses) => {
    const { url } = await start('node')
    for (const path of ['big', 'pieces']) {
      const get = `GET /${path} HTTP/1.1\r\nHost: x\r\n${header}\r\n`
      const client = raw(url, `${get}${tunnel}nonsense\r\n\r\n`)
      const text = await received(client.on('data', () => client.write('x')))
      expect(text.length).toBeGreaterThan(BIG)
      expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(statuses)
    }
  })

  it('tells at once what reads a body that breaks, and closes soon, whatever its client does', async () => {
    const { url, said, tell } = await start('node', { requestTimeout: 500 })
    const post = 'POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'
    const began = performance.now()
    const { port, hostname } = new URL(url)
    for (const [rest, status] of [
      ['zz\r\n', 400],
      ['3\r\n', 408],
    ] as const) {
      // It does not close its side.
      const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
      onTestFinished(() => void client.destroy())
      client.write(post + rest)
      await said('reading')
      const [answer] = (await once(client, 'data')) as [Buffer]
      expect(`${answer}`).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      await said('interrupted')
    }
    tell('close')
    await said('closed')
    expect(performance.now() - began).toBeLessThan(9000)
  })

  it('reads no more of a client whose requests wait', async () => {
    const { url, said, lines, tell } = await start('node')
    const client = raw(url, 'GET /wait HTTP/1.1\r\nHost: x\r\n\r\n')
    await said('waiting')
    const chunk = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx'.repeat(1000)
    let sent = 0
    while (client.write(chunk) || sent < 400) sent += 1
    for (let round = 0; round < 50; round += 1) await fetch(`${url}/echo`)
    expect(client.bytesWritten - client.writableLength).toBeLessThan(12e6)
    expect(client.writableLength).toBeGreaterThan(5e6)
    tell('release')
    await once(client, 'data')
    client.destroy()
    expect((await fetch(`${url}/echo`)).status).toBe(200)
    expect(lines.filter((line) => line.startsWith('unhandled'))).toEqual([])
  })

  it('a client that does not read is let go, one that goes on asking too', async () => {
    const { url, said, lines } = await start('node', { sendTimeout: 500 })
    const [silent, asking] = [raw(url, GET_BIG).pause(), raw(url, GET_BIG).pause()] as const
    const streaming = raw(url, 'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n').pause()
    await expect.poll(() => lines.filter((line) => line === 'big').length).toBe(2)
    const before = performance.now()
    asking.write('GET /echo HTTP/1.1\r\nHost: x\r\nA: ')
    const drip = setInterval(() => asking.write('a'), 50)
    // It learns from what it writes that the connection has gone.
    await new Promise((resolve) => asking.once('close', resolve))
    expect(performance.now() - before).toBeGreaterThan(400)
    clearInterval(drip)
    await said('cancelled')
    expect(await sizeOf(silent.resume())).toBeLessThan(BIG)
    streaming.destroy()
  })

  it('a client that reads slowly gets all of it, one that waits for its response too', async () => {
    const { url, said, tell } = await start('node', { sendTimeout: 1500 })
    const waiting = fetch(`${url}/wait`)
    await said('waiting')
    const client = raw(url, GET_BIG.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    const began = performance.now()
    client.on('data', () => {
      client.pause()
      setTimeout(() => client.resume(), 30)
    })
    expect(await sizeOf(client)).toBeGreaterThan(BIG)
    // Longer than the limit, or the test shows nothing.
    expect(performance.now() - began).toBeGreaterThan(2000)
    tell('release')
    expect(await (await waiting).text()).toBe('finished')
  })

  it('asks for a body with 100 Continue when somebody reads it, not before', async () => {
    const { url } = await start('node')
    const asks = (length: number) =>
      `POST /limited HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`
    expect(await received(raw(url, asks(99_999_999)))).toMatch(/^HTTP\/1\.1 413 /)
    const client = raw(url, asks(3))
    const [first] = (await once(client, 'data')) as [Buffer]
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.write('abc')
    const answer = await received(client)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toMatch(/\r\n\r\nabc$/)
  })
})
