/**
 * A server with live lists under measurement, `fieldgate/live`.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { built } from './build.ts'
import { memoryOf } from './server.ts'

/** How many are opened at a time. */
const OPENING = 50

/** What the server tells of itself. */
interface Use {
  readonly microseconds: number
}

/** It follows a list for each connection, and does what it is asked for. */
export class LiveServer {
  readonly #child: ChildProcess
  readonly #sockets: Socket[] = []
  #port = 0

  constructor(isBuilt: boolean) {
    const source = fileURLToPath(new URL('fieldgate/live.ts', import.meta.url))
    const file = isBuilt ? built('fieldgate/live') : source
    const conditions = isBuilt ? [] : ['-C', 'fieldgate-source']
    const execArgv = [...conditions, '--disable-warning=ExperimentalWarning', '--expose-gc']
    this.#child = fork(file, { execArgv })
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const [port] = await once(this.#child, 'message')
    this.#port = Number(port)
  }

  /** Opens a live list, and resolves when its records are there. */
  async #open(owner: string): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1')
    this.#sockets.push(socket)
    socket.write(
      `GET /tasks?done=false HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nX-Owner: ${owner}\r\n\r\n`,
    )
    let text = ''
    while (!text.includes('event: records')) text += String((await once(socket, 'data'))[0])
    socket.resume()
  }

  /** Opens `count` live lists, of an owner each. */
  async open(count: number): Promise<void> {
    let left = count
    const one = async () => {
      while (left > 0) {
        left -= 1
        await this.#open(`owner-${left}`)
      }
    }
    await Promise.all(Array.from({ length: OPENING }, one))
  }

  /** The server's own processor time for `work`. */
  async used(work: () => Promise<unknown>): Promise<number> {
    const before = await this.#ask('use')
    await work()
    return (await this.#ask('use')).microseconds - before.microseconds
  }

  /** An insert and an update, of a task that is nobody's. */
  async write(count: number): Promise<void> {
    await this.#ask(`write ${count}`)
  }

  async #ask(what: string): Promise<Use> {
    this.#child.send(what)
    const [answer] = await once(this.#child, 'message')
    return answer as Use
  }

  /** Its resident memory after a collection, in MiB. */
  async memory(): Promise<number> {
    await this.#ask('clean')
    return memoryOf(this.#child.pid ?? 0, 'VmRSS')
  }

  /** Ends it. */
  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#child.kill()
  }
}
