/**
 * Two processes that write and serve, of which one is killed now and then.
 *
 * @module
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { MongoClient } from 'mongodb'
import { programOf } from '../../services/program.ts'
import { freePorts } from '../../services/server.ts'
import type { Place } from './world.ts'

const PROGRAM = new URL('server.ts', import.meta.url)
const WRITERS_EACH = 4

type Child = ChildProcessByStdio<Writable, Readable, null>

/** The processes of a proof. */
export class Servers {
  readonly ports: readonly number[]
  kills = 0
  /** Rejects if one ends by itself. */
  readonly failed: Promise<never>
  #fail: (error: Error) => void = () => {}
  readonly #place: Place
  readonly #children: Child[] = []
  #seed = 0
  readonly #names: string[] = []

  private constructor(place: Place, ports: readonly number[]) {
    this.#place = place
    this.ports = ports
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
  }

  static async start(place: Place): Promise<Servers> {
    const servers = new Servers(place, await freePorts(2))
    process.once('exit', () => servers.#end())
    // One after the other: two that make the tables at the same time would wait for each other.
    for (const at of servers.ports.keys()) await servers.#start(at)
    return servers
  }

  async #start(at: number): Promise<void> {
    this.#seed += 10
    const name = `proof ${crypto.randomUUID()}`
    this.#names[at] = name
    const given = [
      JSON.stringify(named(this.#place, name)),
      this.#seed,
      WRITERS_EACH,
      this.ports[at],
    ]
    const command = ['--no-warnings', programOf(PROGRAM), ...given.map(String)]
    const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#children[at] = child
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') this.#fail(new Error(`a server ended with ${code}`))
    })
    await Promise.race([once(child.stdout, 'data'), this.failed])
  }

  /** Kills one of them, and starts another one in its place. */
  async kill(): Promise<void> {
    const at = this.kills % this.ports.length
    const child = this.#children[at]
    child?.kill('SIGKILL')
    if (child && child.signalCode === null && child.exitCode === null) await once(child, 'exit')
    this.kills += 1
    const name = this.#names[at] ?? ''
    await this.#start(at)
    if ('mongodb' in this.#place) await endSessions(this.#place.mongodb, name)
  }

  /** Resolves when nothing is written any more; the lists are served still. */
  async written(): Promise<void> {
    await Promise.all(
      this.#children.map((child) => {
        child.stdin.end()
        return once(child.stdout, 'data')
      }),
    )
  }

  async stop(): Promise<void> {
    const ended = this.#children.map((child) => once(child, 'exit'))
    this.#end()
    await Promise.all(ended)
  }

  #end(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}

/** A place whose database knows a process by its name, if it keeps what a process leaves. */
function named(place: Place, name: string): Place {
  if (!('mongodb' in place)) return place
  const url = new URL(place.mongodb)
  url.searchParams.set('appName', name)
  return { ...place, mongodb: url.href }
}

/** Ends the transactions of a process that has gone: by itself, MongoDB keeps them for a minute. */
async function endSessions(url: string, appName: string): Promise<void> {
  const client = await MongoClient.connect(url)
  const operations = { allUsers: true, idleSessions: true }
  const left = await client
    .db('admin')
    .aggregate([{ $currentOp: operations }, { $match: { appName, lsid: { $exists: true } } }])
    .toArray()
  const killSessions = left.map(({ lsid }) => ({ id: lsid.id }))
  if (killSessions.length > 0) await client.db('admin').command({ killSessions })
  await client.close()
}
