/**
 * A client that sends a file of any length, and hears the answer that comes before its end.
 *
 * @module
 */

import { connect } from 'node:net'

/** What came of it. */
export interface Flood {
  readonly status: number
  readonly error: string | undefined
  /** Bytes that left this process, those in the system's buffers too. */
  readonly sent: number
}

const BLOCK = 64 * 1024
const BOUNDARY = 'flood'
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Sends `size` bytes as one file until the answer comes or the connection ends. */
export function flood(base: string, size: number): Promise<Flood> {
  const { hostname, port } = new URL(base)
  const head = Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n`,
  )
  const end = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
  const length = head.length + size + end.length
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let answer = ''
    let left = size
    socket.setEncoding('utf8')
    socket.write(
      `POST /photos HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${length}\r\n` +
        `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\n\r\n`,
    )
    socket.write(Buffer.concat([head, PNG]))
    left -= PNG.length
    const block = Buffer.alloc(BLOCK, 7)
    const more = () => {
      while (left > 0 && answer === '' && socket.writable) {
        const part = block.subarray(0, Math.min(left, BLOCK))
        left -= part.length
        if (!socket.write(part)) return
      }
      if (left === 0) socket.write(end)
    }
    const done = () => {
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? []
      const [, error] = /"error":"([^"]*)"/.exec(answer) ?? []
      if (status === undefined) return reject(new Error(`no answer: ${answer}`))
      resolve({ status: Number(status), error, sent: socket.bytesWritten - socket.writableLength })
      socket.destroy()
    }
    socket.on('connect', more)
    socket.on('drain', more)
    socket.on('data', (chunk) => {
      answer += chunk
      if (answer.includes('}')) done()
    })
    socket.on(
      'error',
      () => answer === '' && reject(new Error('the connection broke without an answer')),
    )
    socket.on('close', done)
  })
}
