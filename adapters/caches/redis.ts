/**
 * A cache in Redis or Valkey over TCP: choose it where several instances on Node, Deno or Bun serve the app.
 *
 * It keeps its promises on one primary. A replica, or a failover that loses writes, may give back what a write of
 * the app has replaced.
 *
 * @module
 */

import { createClient } from 'redis'
import type { CacheStore } from '../../src/ports/cache.ts'

/** Where the server is. */
export interface RedisCacheOptions {
  /** `redis://[[user][:password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string
}

type Client = ReturnType<typeof newClient>

const CONNECT_MS = 5000
/** A connection that gives no answer for so long is given up; TCP itself would wait for minutes. */
const SILENCE_MS = 2000

/** A cache in Redis. It connects when it is first used, and again when a connection was lost. */
export function redisCache({ url }: RedisCacheOptions): CacheStore {
  if (typeof url !== 'string' || !/^rediss?:\/\//.test(url)) {
    throw new TypeError(`redisCache: 'url' must start with redis:// or rediss://`)
  }
  let connection: Promise<Client> | undefined
  let closed = false

  const open = (): Promise<Client> => {
    const client = newClient(url)
    const forget = () => {
      if (connection === opening) connection = undefined
    }
    // Without a listener an error would end the process; the calls under way reject by themselves.
    client.on('error', forget)
    const opening = client.connect().then(() => client)
    opening.catch(forget)
    connection = opening
    return opening
  }

  const ask = async <T>(command: (client: Client) => Promise<T>): Promise<T> => {
    if (closed) throw new Error('the cache is closed')
    const asked = connection ?? open()
    const client = await asked
    const silence = setTimeout(() => {
      if (connection === asked) connection = undefined
      if (client.isOpen) client.destroy()
    }, SILENCE_MS)
    try {
      return await command(client)
    } finally {
      clearTimeout(silence)
    }
  }

  return {
    get: (key) => ask((client) => client.get(key)),
    set: (key, value, ttlSeconds) =>
      ask((client) => client.set(key, value, { expiration: { type: 'EX', value: ttlSeconds } })),
    async close() {
      closed = true
      const client = await connection?.catch(() => undefined)
      connection = undefined
      if (client?.isOpen) client.destroy()
    },
  }
}

function newClient(url: string) {
  return createClient({
    url,
    // A command that could not be sent at once is not sent later: nobody waits for it any more.
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_MS },
  })
}
