/**
 * A MongoDB server outside of a replica set: it has no transactions.
 *
 * @module
 */

import { MongoClient } from 'mongodb'
import { mongod } from './replica-set.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** Starts the server. Its address names no database. */
export async function startSingleMongod(): Promise<{ url: string; stop(): Promise<void> }> {
  const [port] = await freePorts(1)
  const url = `mongodb://127.0.0.1:${port}`
  const folder = await newFolder('mongod')
  const { stop } = await startServer({
    command: await mongod(),
    args: ['--nounixsocket', '--bind_ip', '127.0.0.1', `--port=${port}`, `--dbpath=${folder}`],
    folder,
    ready: async () => {
      const client = new MongoClient(url, { serverSelectionTimeoutMS: 500 })
      await client
        .db('admin')
        .command({ ping: 1 })
        .finally(() => client.close())
    },
  })
  return { url, stop }
}
