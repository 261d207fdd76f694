/**
 * The end of what waits for a database that has gone: the driver waits for the end of a connection that is in use, which
 * Bun 1.4 does not always tell of.
 *
 * @module
 */

import type { MongoClient, TopologyDescription } from 'mongodb'
import { StoreUnavailable } from '../../../../src/ports/store.ts'

/** An operation that waits for the database. */
export interface Call {
  readonly ended: Promise<unknown>
  giveUp(error: unknown): void
}

/** How long after the time to find a server an operation may still wait for one that has gone, in milliseconds. */
const GRACE_MS = 1500

const callsOn = new WeakMap<MongoClient, Set<ReadonlySet<Call>>>()

/**
 * Gives up what is in `calls` whenever there has been no server to ask on `client` for a while; returns a function that
 * ends this. All stores on a client share a listener.
 */
export function endWithOutages(client: MongoClient, calls: ReadonlySet<Call>): () => void {
  const all = callsOn.get(client) ?? watch(client)
  all.add(calls)
  return () => all.delete(calls)
}

function watch(client: MongoClient): Set<ReadonlySet<Call>> {
  const all = new Set<ReadonlySet<Call>>()
  let timer: NodeJS.Timeout | undefined
  const giveUp = () => {
    timer = undefined
    const error = new StoreUnavailable('the database cannot be reached')
    for (const call of [...all].flatMap((calls) => [...calls])) call.giveUp(error)
  }
  const afterMs = client.options.serverSelectionTimeoutMS + GRACE_MS
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    if (!isServing(newDescription)) timer ??= setTimeout(giveUp, afterMs).unref()
    else {
      clearTimeout(timer)
      timer = undefined
    }
  })
  callsOn.set(client, all)
  return all
}

/** Whether some server takes writes, or the only one that is asked is there. */
function isServing({ type, servers }: TopologyDescription): boolean {
  const types = [...servers.values()].map((server) => server.type)
  if (type === 'Single') return types.every((one) => one !== 'Unknown')
  return types.some((one) => SERVING.has(one))
}

const SERVING: ReadonlySet<string> = new Set(['Standalone', 'RSPrimary', 'Mongos', 'LoadBalancer'])
