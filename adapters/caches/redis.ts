/**
 * A cache in Redis or Valkey over TCP: choose it if several instances on Node, Deno or Bun serve the app.
 *
 * It keeps its promises on one primary that keeps nothing on disk. A replica, a failover that loses writes, or a restart
 * from a snapshot may return what a write of the app has replaced.
 *
 * @module
 */

import type { ConnectionOptions } from 'node:tls'
import { createClient } from 'redis'
import { checkOptions, failAs, matching, whatever } from '../../src/model/option-rules.ts'
import { withTimeout } from '../../src/ports/promises/with-timeout.ts'
import type { CacheStore } from '../../src/ports/services/cache.ts'
import { INCREMENT } from './increment.ts'

/** Where the server is. */
export interface RedisCacheOptions {
  /** `redis://[[user][:password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string
  /** Options of `tls.connect`, for a server whose certificate no public authority has signed. */
  readonly tls?: ConnectionOptions
}

type Client = ReturnType<typeof newClient>

/** A connection, from its handshake on. */
interface Connection {
  readonly client: Client
  /** Settles when commands can be sent. */
  readonly opened: Promise<unknown>
}

const AT_REDIS = matching('start with redis:// or rediss://', /^rediss?:\/\//)

/** A connection without any reply for this many milliseconds is closed, even in its handshake: TCP may wait for ever. */
const SILENCE_MS = 2000

/** A cache in Redis. It connects on first use, and reconnects after a connection was lost. */
export function redisCache(options: RedisCacheOptions): CacheStore {
  const { url = '', tls } = { ...options }
  checkOptions({ ...options, url }, { url: AT_REDIS, tls: whatever }, 'redisCache')
  if (tls && !url.startsWith('rediss:')) failAs('redisCache')("'tls' needs a 'url' with rediss://")
  let current: Connection | undefined
  let closed = false

  const end = (connection: Connection) => {
    if (current === connection) current = undefined
    if (connection.client.isOpen) connection.client.destroy()
  }

  const open = (): Connection => {
    const client = newClient(url, tls)
    const connection = { client, opened: client.connect() }
    current = connection
    // Without a listener an error would end the process; pending calls reject by themselves.
    client.on('error', () => end(connection))
    connection.opened.catch(() => end(connection))
    return connection
  }

  const ask = async <T>(command: (client: Client) => Promise<T>): Promise<T> => {
    if (closed) throw new Error('the cache is closed')
    const connection = current ?? open()
    const work = async () => {
      await connection.opened
      return command(connection.client).catch((error: unknown) => {
        // The server has become a replica: its address may lead to the new primary by now.
        if (String(error).includes('READONLY')) end(connection)
        throw error
      })
    }
    const silent = () => new Error(`the cache did not respond within ${SILENCE_MS} ms`)
    return withTimeout(SILENCE_MS, work, silent, () => end(connection))
  }

  return {
    get: (key) => ask((client) => client.get(key)),
    set: (key, value, ttlSeconds) =>
      ask((client) => client.set(key, value, { expiration: { type: 'EX', value: ttlSeconds } })),
    increment: (key, ttlSeconds) =>
      ask(async (client) => {
        const given = { keys: [key], arguments: [String(ttlSeconds)] }
        return Number(await client.eval(INCREMENT, given))
      }),
    async close() {
      closed = true
      if (current) end(current)
    },
  }
}

function newClient(url: string, tls: ConnectionOptions | undefined) {
  return createClient({
    url,
    // The only one that servers before version 6 and some proxies know.
    RESP: 2,
    // A command that could not be sent at once is not sent later: its caller no longer waits for it.
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { ...(tls as object), reconnectStrategy: false, connectTimeout: SILENCE_MS },
  })
}
