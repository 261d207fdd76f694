/**
 * Clients that keep their connections, as the pools of proxies and libraries do, and note what becomes of each request.
 *
 * @module
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What has become of the requests of all clients. */
export interface Outcome {
  answered: number
  /** Answered with a 5xx. */
  failed: number
  /** Sent whole before the signal, and never answered whole. */
  broken: number
  /** Begun after the signal on a connection that had been used before, and never answered whole. */
  reused: number
  /** Begun after the signal on a new connection, and never answered whole. */
  fresh: number
  /** Begun after the signal, where no new connection could be made. */
  refused: number
}

/** Clients under way. */
export interface Clients {
  readonly outcome: Readonly<Outcome>
  /** The titles of the records whose creation was acknowledged. */
  readonly written: readonly string[]
  /** Tells that the signal is sent now. */
  signalled(): void
  /** Resolves when every client has met the end of the server. */
  readonly ended: Promise<unknown>
}

/** The longest time between two requests of a client, in milliseconds. */
const PAUSE_MS = 30

/** Starts `count` clients, each on a connection of its own. */
export function startClients(url: string, count: number): Clients {
  const outcome: Outcome = { answered: 0, failed: 0, broken: 0, reused: 0, fresh: 0, refused: 0 }
  const written: string[] = []
  let isSignalled = false

  /** Sends one request; whether its connection can be used again. */
  const ask = async (socket: Socket): Promise<boolean> => {
    const title = `${crypto.randomUUID()} ${'x'.repeat(Math.random() * 2000)}`
    const isReused = socket.bytesRead > 0
    const response = responseOn(socket)
    socket.write(oneOf(title))
    // What the kernel has taken before the signal is sent, the server has.
    const isSentBefore = !isSignalled && socket.writableLength === 0
    const head = await response
    if (head === undefined) {
      const late = isReused ? 'reused' : 'fresh'
      outcome[isSentBefore ? 'broken' : late] += 1
      return false
    }
    note(head, title)
    return !/\r\nconnection: close\r\n/i.test(head)
  }

  const note = (head: string, title: string) => {
    outcome.answered += 1
    const status = Number(head.slice(9, 12))
    if (status >= 500) outcome.failed += 1
    if (status === 201) written.push(title)
  }

  const client = async (): Promise<void> => {
    let isRefused = false
    while (!isRefused) {
      const socket = await connected(url)
      isRefused = !socket
      if (!socket) outcome.refused += 1
      // What was idle may have been closed meanwhile, and its client has seen it.
      while (socket?.writable && (await ask(socket))) await sleep(Math.random() * PAUSE_MS)
      socket?.destroy()
    }
  }

  return {
    outcome,
    written,
    signalled: () => {
      isSignalled = true
    },
    ended: Promise.all(Array.from({ length: count }, client)),
  }
}

/** Half of the requests read, some slowly; the others write, some more than one packet. */
function oneOf(title: string): string {
  const dice = Math.random()
  if (dice < 0.4) return 'GET /books?pageSize=2 HTTP/1.1\r\nHost: x\r\n\r\n'
  if (dice < 0.5) return 'GET /books/slow HTTP/1.1\r\nHost: x\r\n\r\n'
  const body = JSON.stringify({ title })
  return `POST /books HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

async function connected(url: string): Promise<Socket | undefined> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    socket.on('error', () => {})
    return socket
  } catch {
    return undefined
  }
}

/** The head of the next response on a connection, once all of its body is there; undefined when it ends before. */
function responseOn(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    const settle = (head?: string) => {
      socket.off('data', onData).off('close', onClose)
      resolve(head)
    }
    const onClose = () => settle()
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const head = text.slice(0, text.indexOf('\r\n\r\n') + 2)
      const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1]
      const isWhole =
        length === undefined
          ? text.endsWith('\r\n0\r\n\r\n')
          : text.length === head.length + 2 + Number(length)
      if (isWhole) settle(head)
    }
    socket.on('data', onData).on('close', onClose)
  })
}
