import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    ['that is none', 'POST /cities HTTP/1.1\r\nHost: [::1'],
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
    ['with one that is none', 'GET /nope HTTP/1.1\r\nHost: [::1', [404]],
    ['whose query looks like a URL', 'GET /cities?page=x://a/nope HTTP/1.0', [200]],
  ])('the path of a request %s is its own', async (_, head, statuses) => {
    expect(statuses).toContain((await answerTo(head)).status)
  })

  it('the query of a target without a path is not taken for one', async () => {
    const { status } = await answerTo('GET http://other.example?x=/cities HTTP/1.1\r\nHost: x')
    // Bun refuses such a target itself.
    expect([404, 400]).toContain(status)
  })
})
