/** Processes of Node that share a port: the first one accepts connections and hands them out in turn. */

import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import type { ForkWith } from './first.ts'

/** Starts one. Throws a `TypeError` in a program that is itself a worker of `node:cluster`. */
export const clusterFork: ForkWith = (variables) => {
  if (!cluster.isPrimary) {
    throw new TypeError(
      `serve: 'processes' can't be used in a process that node:cluster has started`,
    )
  }
  const worker = cluster.fork(variables).process
  endLostConnections(worker)
  return worker
}

/** The members of node:cluster's messages that are read. */
interface Message {
  readonly act?: unknown
  readonly seq?: unknown
  readonly ack?: unknown
}

/**
 * Ends the connections that were on their way to a worker when it died. Node 22 keeps them open, so their clients would
 * wait for ever. If another version hands them out in another way, this does nothing.
 */
function endLostConnections(worker: ChildProcess): void {
  const handed = new Map<unknown, { close(): void }>()
  const send = worker.send.bind(worker) as (...args: unknown[]) => boolean
  worker.send = (...args: unknown[]) => {
    const [message, handle] = args as [Message, { close(): void } | undefined]
    if (message.act === 'newconn' && handle) handed.set(message.seq, handle)
    return send(...args)
  }
  worker.on('internalMessage', ({ ack }: Message) => handed.delete(ack))
  worker.once('exit', () => {
    for (const handle of handed.values()) handle.close()
  })
}
