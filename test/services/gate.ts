/**
 * A gate in front of a TCP server: open, slow, shut (connections are refused), stuck (bytes go in, none come out), or one
 * that spoils what comes out now and then.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The share of replies that are spoiled. */
const SPOILED = 0.02

/** A gate, open at first. */
export interface Gate {
  readonly port: number
  open(): Promise<void>
  /** Ends the connections and refuses new ones. */
  shut(): Promise<void>
  /** Keeps the connections, and takes new ones, but lets nothing through. */
  stick(): void
  /** Lets everything through, so many milliseconds later. Until it is opened. */
  slow(ms: number): void
  /** Now and then resets a connection, or sends half of a reply or other bytes in its place. Until it is opened. */
  spoil(how: Spoiling): void
}

type Spoiling = 'reset' | 'half' | 'garbage'

/** Ends a client's connection, with half of a reply or with other bytes where `how` says so. */
function spoil(client: Socket, reply: Buffer, how: Spoiling): void {
  if (how === 'half') client.write(reply.subarray(0, reply.length / 2))
  if (how === 'garbage') client.write(randomBytes(reply.length))
  client.resetAndDestroy()
}

/** A gate in front of the server at `url`. */
export async function gateTo(url: string): Promise<Gate> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let stuck = false
  let slowMs = 0
  let spoiling: Spoiling | undefined
  const pass = (chunk: Buffer, to: Socket) => {
    if (slowMs === 0) to.write(chunk)
    else setTimeout(() => to.write(chunk), slowMs)
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (chunk) => {
        if (stuck) return
        const isSpoiled = socket === upstream && Math.random() < SPOILED
        if (spoiling && isSpoiled) spoil(client, chunk, spoiling)
        else pass(chunk, peer)
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        peer.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = (server.address() as AddressInfo).port
  return {
    port: own,
    async open() {
      stuck = false
      slowMs = 0
      spoiling = undefined
      if (server.listening) return
      server.listen(own, '127.0.0.1')
      await once(server, 'listening')
    },
    async shut() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    stick() {
      stuck = true
    },
    slow(ms) {
      slowMs = ms
    },
    spoil(how) {
      spoiling = how
    },
  }
}
