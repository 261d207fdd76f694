import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Running, runtimes, start } from './runtimes.ts'

const ATLANTIS = JSON.stringify({
  name: 'Atlantis',
  country: '0'.repeat(24),
  capital: true,
  latitude: 31,
  longitude: -24,
})

describe.each(Object.entries(runtimes))('requests with an odd Host, on %s', (_, command) => {
  let server: Running
  beforeAll(async () => {
    server = await start(command)
  })
  afterAll(() => server.stop())

  /** The status and the body that `head` gets, followed by `body`. */
  function answerTo(head: string, body = ''): Promise<{ status: number; text: string }> {
    const { hostname, port } = new URL(server.base)
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
        const type = 'Content-Type: application/json\r\n'
        socket.write(`${head}\r\n${type}${length}Connection: close\r\n\r\n${body}`)
      })
      let text = ''
      socket.setEncoding('utf8')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text })
      })
    })
  }

  async function count(): Promise<number> {
    const { pagination } = (await (await fetch(`${server.base}/cities?page=1`)).json()) as {
      pagination: { totalRecords: number }
    }
    return pagination.totalRecords
  }

  it.each([
    ['that is empty', 'POST /cities HTTP/1.1\r\nHost:'],
    ['left out, as HTTP/1.0 may', 'POST /cities HTTP/1.0'],
  ])('a Host %s: a record is stored, and answered with its path', async (_, head) => {
    const before = await count()
    const { status, text } = await answerTo(head, ATLANTIS)
    expect([(await count()) - before, status]).toEqual([1, 201])
    expect(text).toMatch(/\r\nlocation: \/cities\/[0-9a-f]{24}\r\n/i)
  })

  it.each([
    ['without a Host', 'GET /cities?page=1 HTTP/1.0', [200]],
    ['with an empty one', 'GET /cities?page=1 HTTP/1.1\r\nHost:', [200]],
    ['whose query looks like a URL', 'GET /cities?page=x://a/nope HTTP/1.0', [200]],
  ])('the path of a request %s is its own', async (_, head, statuses) => {
    expect(statuses).toContain((await answerTo(head)).status)
  })

  it('the query of a target without a path is not taken for one', async () => {
    const target = 'GET http://other.example?x=/cities HTTP/1.1\r\nHost: x'
    const { status, text } = await answerTo(target)
    // The page at '/'. Bun refuses such a target itself.
    expect([200, 400]).toContain(status)
    expect(text).not.toContain('"success":true')
  })

  it.each([
    ['/cities?', 'POST /x HTTP/1.1\r\nHost: h/cities?'],
    ['/cities#', 'POST /x HTTP/1.1\r\nHost: h/cities#'],
    ['a backslash', 'POST /cities HTTP/1.1\r\nHost: h\\cities'],
    ['a user', 'POST /cities HTTP/1.1\r\nHost: ann@h'],
    ['half of brackets', 'POST /cities HTTP/1.1\r\nHost: [::1'],
    ['blanks', 'POST /cities HTTP/1.1\r\nHost: a b'],
    ['a port that is none', 'POST /cities HTTP/1.1\r\nHost: h:99999'],
    ['another Host', 'POST /cities HTTP/1.1\r\nHost: a\r\nHost: b'],
    ['the same Host again', 'POST /cities HTTP/1.1\r\nHost: a\r\nHost: a'],
  ])('a Host with %s is a 400, and nothing is stored', async (_, head) => {
    const before = await count()
    const { status } = await answerTo(head, ATLANTIS)
    expect([(await count()) - before, status]).toEqual([0, 400])
  })

  it.each(['h', 'h:80', 'H.example.:8080', '[::1]:80', 'a_b.example'])(
    'a Host %s is served',
    async (host) => {
      const { status } = await answerTo(`GET /cities?page=1 HTTP/1.1\r\nHost: ${host}`)
      expect(status).toBe(200)
    },
  )

  it('Location is made of the mount, wherever the target leads to', async () => {
    const target = 'POST //evil.example/../../cities HTTP/1.1\r\nHost: x'
    const { status, text } = await answerTo(target, ATLANTIS)
    expect(status).toBe(201)
    expect(text).toMatch(/\r\nlocation: \/cities\/[0-9a-f]{24}\r\n/i)
  })

  it('TRACE is a method that is not there, CONNECT no request', async () => {
    const trace = await answerTo('TRACE /cities HTTP/1.1\r\nHost: x')
    expect(trace.status).toBe(405)
    expect(trace.text).toMatch(/\r\nallow: GET, HEAD, POST, QUERY\r\n/i)
    const tunnel = await answerTo('CONNECT x:1 HTTP/1.1\r\nHost: x:1')
    // Node has no path of it; others take '/', where a page is.
    expect([404, 405]).toContain(tunnel.status)
  })
})

// What the runtimes answer themselves gets no envelope, and no hook could give it one: docs/differences.md.
describe('requests that a runtime answers itself', () => {
  const EMPTY = /^HTTP\/1\.1 400 [^]*\r\n\r\n$/

  it.each(['Deno', 'Bun'] as const)(
    '%s: what is no HTTP gets a 400 without a body',
    async (name) => {
      const server = await start(runtimes[name])
      onTestFinished(() => server.stop())
      for (const head of ['nonsense', 'POST /cities HTTP/1.1\r\nHost: x\r\nContent-Length: a']) {
        expect(await textOf(server.base, `${head}\r\n\r\n`)).toMatch(EMPTY)
      }
    },
  )

  it('Deno serves HTTP/1.1 without a Host, which it does not tell from HTTP/1.0; Bun refuses it', async () => {
    for (const [name, status] of [
      ['Deno', 200],
      ['Bun', 400],
    ] as const) {
      const server = await start(runtimes[name])
      onTestFinished(() => server.stop())
      const bytes = 'GET /cities HTTP/1.1\r\nConnection: close\r\n\r\n'
      expect(await textOf(server.base, bytes)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    }
  })
})

/** What comes back for `bytes` until the connection ends. */
function textOf(base: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}
