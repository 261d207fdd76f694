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
  spoil(how: 'reset' | 'half' | 'garbage'): void
}

/** A gate in front of the server at `url`. */
export async function gateTo(url: string): Promise<Gate> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let stuck = false
  let slowMs = 0
  let spoiling: Parameters<Gate['spoil']>[0] | undefined
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (chunk) => {
        if (stuck) return
        if (spoiling && socket === upstream && Math.random() < SPOILED) {
          if (spoiling === 'half') client.write(chunk.subarray(0, chunk.length / 2))
          if (spoiling === 'garbage') client.write(randomBytes(chunk.length))
          client.resetAndDestroy()
          return
        }
        if (slowMs === 0) peer.write(chunk)
        else setTimeout(() => peer.write(chunk), slowMs)
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
