import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, runtimes, start } from './runtimes.ts'

describe('the Node adapter', () => {
  let server: Running
  beforeAll(async () => {
    server = await start(runtimes.Node)
  })
  afterAll(() => server.stop())

  it('says that the connection ends where an answer comes before the end of a body', async () => {
    const { hostname, port } = new URL(server.base)
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          'POST /cities HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n{"name":"',
        )
      })
      let text = ''
      socket.setEncoding('utf8')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('end', () => {
        socket.end()
        resolve(text)
      })
      socket.on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 413/)
    expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    expect(answer).toContain('Request body exceeds the limit of 1048576 bytes.')
  })
})
