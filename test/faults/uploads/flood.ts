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

/** Where a write fails, Node drops what has arrived and was not read yet: an answer too. */
class Dropped extends Error {}

/**
 * Sends `size` bytes as one file until the answer comes or the connection ends.
 *
 * A server that closes right after its answer, as workerd does, resets what is still on its way, and the answer
 * may be lost in this process. Such a server is asked up to `tries` times.
 */
export async function flood(base: string, size: number, tries = 1): Promise<Flood> {
  try {
    return await once(base, size)
  } catch (error) {
    if (!(error instanceof Dropped) || tries === 1) throw error
    return flood(base, size, tries - 1)
  }
}

function once(base: string, size: number): Promise<Flood> {
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
    // A block for each turn, so that an answer that is there is read before the next one is sent.
    const more = () => {
      if (answer !== '' || !socket.writable) return
      const part = block.subarray(0, Math.min(left, BLOCK))
      left -= part.length
      socket.write(
        left > 0 ? part : Buffer.concat([part, end]),
        () => left > 0 && setImmediate(more),
      )
    }
    const done = () => {
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? []
      const [, error] = /"error":"([^"]*)"/.exec(answer) ?? []
      if (status === undefined) return reject(new Error(`no answer: ${answer}`))
      resolve({ status: Number(status), error, sent: socket.bytesWritten - socket.writableLength })
      socket.destroy()
    }
    socket.on('connect', more)
    socket.on('data', (chunk) => {
      answer += chunk
      if (answer.includes('}')) done()
    })
    socket.on(
      'error',
      () => answer === '' && reject(new Dropped('the connection broke without an answer')),
    )
    socket.on('close', done)
  })
}
