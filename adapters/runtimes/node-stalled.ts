import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

interface Progress {
  readonly queued: number
  readonly written: number
  /** The bytes that the client's side has not acknowledged, if known. */
  unread: string | undefined
  since: number
}

/** The longest time between two checks, in milliseconds. */
const LOOK_MS = 1000

/**
 * Closes connections on which a response is waiting and nothing has been sent for `sendTimeout` milliseconds, 0 for no
 * limit. Progress is what the kernel takes from the queue and, on Linux, what the client's side acknowledges: the
 * kernel takes more only when a good part of its buffer, up to 1.5 MB, is free, which takes minutes for a slow reader.
 * Returns a function that stops the checks.
 */
export function letGoOfStalled(sockets: ReadonlySet<Socket>, sendTimeout: number): () => void {
  if (sendTimeout === 0) return () => {}
  const progress = new WeakMap<Socket, Progress>()
  let asked = 0
  let isLooking = false
  const look = async () => {
    const now = performance.now()
    const still = [...sockets].filter((socket) => standsStill(socket, progress, now))
    if (still.length > 0 && now - asked >= sendTimeout / 8) {
      asked = now
      const unread = await unreadBytes()
      for (const socket of still) note(progress.get(socket), unread.get(portsOf(socket)), now)
    }
    for (const socket of still) {
      const { since = now } = progress.get(socket) ?? {}
      // A reset: an orderly close would wait for the client to read.
      if (now - since >= sendTimeout) socket.resetAndDestroy()
    }
  }
  const timer = setInterval(
    () => {
      if (isLooking) return
      isLooking = true
      void look().finally(() => {
        isLooking = false
      })
    },
    Math.min(LOOK_MS, Math.ceil(sendTimeout / 4)),
  )
  return () => clearInterval(timer)
}

/** Whether a connection has bytes to send, and the same ones as at the last check. */
function standsStill(socket: Socket, progress: WeakMap<Socket, Progress>, now: number): boolean {
  const queued = queuedOn(socket)
  if (queued === 0) {
    progress.delete(socket)
    return false
  }
  const last = progress.get(socket)
  if (last?.queued === queued && last.written === socket.bytesWritten) return true
  const written = socket.bytesWritten
  progress.set(socket, { queued, written, unread: undefined, since: now })
  return false
}

function note(progress: Progress | undefined, unread: string | undefined, now: number): void {
  if (!progress) return
  if (progress.unread !== undefined && progress.unread !== unread) progress.since = now
  progress.unread = unread
}

/** The bytes that the kernel has not taken yet. `writableLength` counts a write as a whole until its end. */
function queuedOn(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? socket.writableLength
}

/** The bytes that the clients' sides have not acknowledged, by ports; empty on other systems. */
async function unreadBytes(): Promise<ReadonlyMap<string, string>> {
  const read = (name: string) => readFile(`/proc/self/net/${name}`, 'latin1').catch(() => '')
  const tables = await Promise.all(['tcp', 'tcp6'].map(read))
  const queues = new Map<string, string>()
  for (const line of tables.join('\n').split('\n')) {
    // `0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 …`: addresses with ports, the state, the send and receive
    // queue.
    const [, local, remote, , queue] = line
      .trim()
      .split(/ +/)
      .map((column) => column.split(':'))
    if (local?.[1] === undefined || remote?.[1] === undefined) continue
    const ports = `${local[1]} ${remote[1]}`
    // Clients with different addresses may have the same port: then a change of either counts.
    queues.set(ports, `${queues.get(ports) ?? ''} ${queue?.[0]}`)
  }
  return queues
}

function portsOf({ localPort = 0, remotePort = 0 }: Socket): string {
  return [localPort, remotePort]
    .map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
    .join(' ')
}
