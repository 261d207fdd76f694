/**
 * `npm run bench:streams [-- --streams 10000]`: what open live lists cost on Node: memory and processor time of a server
 * with many that are idle, and of a write while 1,000 are open that it does not concern. `--built` takes the build.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildServers, built } from './build.ts'
import { machineLine } from './results.ts'

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    others: { type: 'string', default: '1000' },
    writes: { type: 'string', default: '2000' },
    idle: { type: 'string', default: '20' },
    built: { type: 'boolean', default: false },
  },
})
const [streams, others] = [Number(values.streams), Number(values.others)]
const [writes, idleMs] = [Number(values.writes), Number(values.idle) * 1000]
/** How many are opened at a time. */
const OPENING = 50

/** What the server tells of itself. */
interface Use {
  readonly microseconds: number
}

class Server {
  readonly #child: ChildProcess
  readonly #sockets: Socket[] = []
  #port = 0

  constructor() {
    const source = fileURLToPath(new URL('fieldgate/live.ts', import.meta.url))
    const file = values.built ? built('fieldgate/live') : source
    const conditions = values.built ? [] : ['-C', 'fieldgate-source']
    const execArgv = [...conditions, '--disable-warning=ExperimentalWarning', '--expose-gc']
    this.#child = fork(file, { execArgv })
  }

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

  async memory(): Promise<number> {
    await this.#ask('clean')
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#child.kill()
  }
}

async function idle(): Promise<void> {
  const server = new Server()
  await server.start()
  await server.open(10)
  const before = await server.memory()
  await server.open(streams)
  await pause(5000)
  const use = await server.used(() => pause(idleMs))
  const after = await server.memory()
  const each = ((after - before) * 1024) / streams
  const share = (use / 1000 / idleMs) * 100
  console.log(
    `${streams} idle streams: ${after.toFixed(0)} MiB (${before.toFixed(0)} MiB without; ${each.toFixed(1)} KiB each), ${share.toFixed(1)} % of a core`,
  )
  server.stop()
}

async function write(): Promise<void> {
  const costs: number[] = []
  const server = new Server()
  await server.start()
  await server.write(500)
  for (const count of [0, others]) {
    await server.open(count)
    await pause(1000)
    costs.push((await server.used(() => server.write(writes))) / writes)
  }
  const [without = 0, with_ = 0] = costs
  console.log(
    `an insert and an update: ${without.toFixed(0)} µs, with ${others} streams on other filters ${with_.toFixed(0)} µs (${(with_ / without).toFixed(2)} times)`,
  )
  server.stop()
}

if (values.built) await buildServers()
console.log(machineLine())
await write()
await idle()
process.exit(0)
