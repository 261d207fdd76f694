/**
 * A server over SQLite, with a cache in memory and files in a folder, under mixed requests for some minutes, of which
 * some are given up half-way: `npm run faults -- soak --minutes 10`. Nothing may pile up.
 *
 * @module
 */

import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { form, png } from '../uploads/png.ts'
import { send } from './notes/clients.ts'
import { type NotesProcess, startNotes } from './notes/process.ts'
import { part, type Report } from './report.ts'

/** What the server has in use. */
interface Use {
  readonly files: number
  readonly logMb: number
  readonly memoryMb: number
  /** After a collection of garbage. */
  readonly heapMb: number
}

interface Tally {
  requests: number
  /** Those that the client gave up. */
  givenUp: number
  /** Those that were answered with anything but 2xx and 404. */
  failed: number
}

const CLIENTS = 8
/** The share of requests that are given up. */
const GIVEN_UP = 0.03
const MB = 1e6

/** `npm run faults -- soak`. */
export const soak = part({
  about: 'mixed requests, some given up half-way',
  options: { minutes: 10 },
  async run({ minutes }): Promise<Report> {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
    const database = join(folder, 'notes.db')
    const files = join(folder, 'files')
    const server = await startNotes({ store: database, files, cache: 'memory' })
    const tally: Tally = { requests: 0, givenUp: 0, failed: 0 }
    try {
      const look = async (at: string) => ({ at, ...tally, ...(await use(server, database)) })
      // What is loaded and compiled by the first requests is no leak.
      await load(server, Math.min(60, minutes * 12), tally)
      const start = await look('start')
      await load(server, minutes * 60, tally)
      const end = await look('end')
      const isSteady = end.heapMb < start.heapMb * 1.2 + 5 && end.files < start.files + 20
      return { rows: [start, end], holds: tally.failed === 0 && isSteady }
    } finally {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    }
  },
})

async function load({ url }: NotesProcess, seconds: number, tally: Tally): Promise<void> {
  const until = performance.now() + seconds * 1000
  const client = async () => {
    const mine: string[] = []
    while (performance.now() < until) {
      tally.requests += 1
      if (Math.random() < GIVEN_UP) await giveUp(url, tally)
      else await request(url, mine, tally)
    }
    for (const id of mine) await send('DELETE', `${url}/notes/${id}`)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

/** One request of a client that has the notes `mine`. */
async function request(url: string, mine: string[], tally: Tally): Promise<void> {
  const at = Math.floor(Math.random() * mine.length)
  const id = mine[at]
  const n = Math.floor(Math.random() * 1000)
  const requests = [
    () => send('GET', `${url}/notes?pageSize=20&n=${n % 10}`),
    () => send('GET', `${url}/notes/${id}`),
    () => send('PATCH', `${url}/notes/${id}`, { n }),
    () => send('DELETE', `${url}/notes/${mine.splice(at, 1)[0]}`),
  ]
  const isFew = id === undefined || (mine.length < 40 && Math.random() < 0.3)
  const next = requests[Math.floor(Math.random() * requests.length)]
  const reply = isFew ? await create(url, n, mine) : await next?.()
  if (!reply || (reply.status >= 300 && reply.status !== 404)) tally.failed += 1
}

/** Every other note has a file. */
async function create(url: string, n: number, mine: string[]): ReturnType<typeof send> {
  const values = { label: `${n}`, n: `${n}` }
  const body = n % 2 ? form({ ...values, file: png }) : { ...values, n }
  const reply = await send('POST', `${url}/notes`, body)
  if (reply?.body.data) mine.push(reply.body.data._id)
  return reply
}

/** A client that goes in the middle of its body, or before it has read the response. */
async function giveUp(url: string, tally: Tally): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const half = `POST /notes HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"label":`
  const whole = `GET /notes?pageSize=100 HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  socket.write(Math.random() < 0.5 ? half : whole)
  await delay(Math.random() * 20)
  socket.destroy()
  await once(socket, 'close')
  tally.givenUp += 1
}

async function use({ pid, url }: NotesProcess, database: string): Promise<Use> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const memory = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  const heap = (await (await fetch(`${url}/heap`)).json()) as number
  return {
    files: (await readdir(`/proc/${pid}/fd`)).length,
    logMb: megabytes((await stat(`${database}-wal`)).size),
    memoryMb: megabytes(memory),
    heapMb: megabytes(heap),
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / (MB / 10)) / 10
}
