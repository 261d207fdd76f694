/**
 * The end of what waits for a database that has gone: the driver waits for the end of a connection that is in use, which
 * Bun 1.4 does not always tell of.
 *
 * @module
 */

import type {
  MongoClient,
  TopologyDescriptionChangedEvent as Seen,
  TopologyDescription,
} from 'mongodb'
import { StoreUnavailable } from '../../../../src/ports/store.ts'

/** An operation that waits for the database. */
export interface Call {
  readonly ended: Promise<unknown>
  giveUp(error: unknown): void
}

/** How long after the time to find a server an operation may still wait for one that has gone, in milliseconds. */
const GRACE_MS = 1500

const outages = new WeakMap<MongoClient, Outage>()

/** What knows whether there is a server to ask; the same for all stores on `client`. */
export function outageOf(client: MongoClient): Outage {
  const known = outages.get(client) ?? new Outage(client)
  outages.set(client, known)
  return known
}

/** Gives up the calls that it knows once there has been no server to ask for a while. */
export class Outage {
  readonly #calls = new Set<ReadonlySet<Call>>()
  readonly #afterMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(client: MongoClient) {
    this.#afterMs = client.options.serverSelectionTimeoutMS + GRACE_MS
    client.on('topologyDescriptionChanged', ({ newDescription }: Seen) => {
      this.#look(isServing(newDescription))
    })
  }

  /** Knows the calls of a store from now on. */
  add(calls: ReadonlySet<Call>): void {
    this.#calls.add(calls)
  }

  remove(calls: ReadonlySet<Call>): void {
    this.#calls.delete(calls)
  }

  #look(isThere: boolean): void {
    if (isThere) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else this.#timer ??= setTimeout(this.#giveUp, this.#afterMs).unref()
  }

  readonly #giveUp = (): void => {
    this.#timer = undefined
    const error = new StoreUnavailable('the database cannot be reached')
    for (const { giveUp } of [...this.#calls].flatMap((calls) => [...calls])) giveUp(error)
  }
}

/** Whether some server takes writes, or the only one that is asked is there. */
function isServing({ type, servers }: TopologyDescription): boolean {
  const types = [...servers.values()].map((server) => server.type)
  if (type === 'Single') return types.every((one) => one !== 'Unknown')
  return types.some((one) => SERVING.has(one))
}

const SERVING: ReadonlySet<string> = new Set(['Standalone', 'RSPrimary', 'Mongos', 'LoadBalancer'])
