/**
 * 10,000 idle connections: live lists in which nothing happens, and clients that say nothing more after a request.
 *
 * @module
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { LiveServer } from '../live-server.ts'
import { withStore } from '../records/databases.ts'
import { type Server, startProgram } from '../server.ts'
import { contenders } from '../servers.ts'
import { count, type Figure, type Scale } from './part.ts'

const CONNECTIONS = 10_000
const RECORDS = 10_000
const IDLE_MS = 20_000
/** Requests before memory is looked at. */
const WARM_UP = 1000
/** How many are opened at a time. */
const OPENING = 100

/** What they cost: memory and processor time. */
export async function connections({ factor, store }: Scale): Promise<Figure[]> {
  const wanted = Math.max(OPENING, Math.round(CONNECTIONS * factor))
  const figures = [await streams(wanted)]
  await withStore(store, async (databases) => {
    const database = await databases.database(RECORDS, ['fieldgate'])
    const [server] = contenders[store]
    const command = await server?.command(database.place('fieldgate', false))
    const running = await startProgram(command ?? [])
    try {
      figures.push(await silent(running, `/products/${database.asked.ids[0]}`, wanted))
    } finally {
      await running.stop()
    }
    await database.close()
  })
  return figures
}

async function streams(wanted: number): Promise<Figure> {
  const server = new LiveServer(true)
  await server.start()
  await server.open(10)
  const before = await server.memory()
  await server.open(wanted)
  const spent = await server.used(() => pause(IDLE_MS))
  const after = await server.memory()
  server.stop()
  const [each, share] = [((after - before) * 1024) / wanted, spent / 10 / IDLE_MS]
  return {
    what: `${count(wanted)} idle live lists`,
    figure: `${count(before)} MiB without them, ${count(after)} MiB with them (${each.toFixed(1)} KiB each), ${share.toFixed(1)} % of a core`,
  }
}

async function silent(server: Server, path: string, wanted: number): Promise<Figure> {
  const open = new Set<Socket>()
  const { port } = new URL(server.base)
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  let [left, most, answered] = [WARM_UP, 0, 0]
  const opener = async () => {
    while (left > 0) {
      left -= 1
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
      socket.once('close', () => open.delete(socket))
      socket.write(request)
      const [chunk] = await once(socket, 'data')
      if (String(chunk).startsWith('HTTP/1.1 200')) answered += 1
      open.add(socket)
      most = Math.max(most, open.size)
    }
  }
  await opener()
  while (open.size > 0) await pause(100)
  const before = server.memoryMiB()
  left = wanted
  most = 0
  answered = 0
  await Promise.all(Array.from({ length: OPENING }, opener))
  const after = server.memoryMiB()
  const from = performance.now()
  while (open.size > 0) await pause(100)
  const seconds = (performance.now() - from) / 1000
  return {
    what: `${count(wanted)} connections that stay silent after a request`,
    figure: `${count(answered)} answered, at most ${count(most)} open at once, ${count(before)} MiB before them, ${count(after)} MiB with them, all closed by the server after ${seconds.toFixed(0)} s`,
  }
}
