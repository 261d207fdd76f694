/**
 * Two servers over one SQLite file and one Valkey, which fails in one way after the other: no read that begins after a
 * write was answered may show what was before that write. `npm run faults -- cache`.
 *
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'redis'
import { type Gate, gateTo } from '../../services/gate.ts'
import { startValkey } from '../../services/valkey.ts'
import { allNotes, type Reply, send } from '../notes/clients.ts'
import { startNotes } from '../notes/process.ts'
import { median, part, type Report } from '../report.ts'

/** What is wrong with the cache. */
export type CacheFault = keyof typeof faults

/** What readers and writers saw under one fault. */
export interface Tally {
  readonly fault: CacheFault
  reads: number
  hits: number
  writes: number
  /** Reads that showed less than a write that was answered before they began. */
  stale: number
  /** Responses other than 200. */
  other: number
  readonly readMs: number[]
}

/** The cache of a trial. */
interface Place {
  readonly gate: Gate
  readonly port: number
  valkey: Awaited<ReturnType<typeof startValkey>>
  readonly retired: Place['valkey'][]
}

/** How each fault begins; the returned function ends it. */
const faults = {
  none: async () => async () => {},
  async cut({ gate }) {
    await gate.shut()
    return () => gate.open()
  },
  async stuck({ gate }) {
    gate.stick()
    return () => gate.open()
  },
  async slow({ gate }) {
    gate.slow(100)
    return () => gate.open()
  },
  async reset({ gate }) {
    gate.spoil('reset')
    return () => gate.open()
  },
  async halved({ gate }) {
    gate.spoil('half')
    return () => gate.open()
  },
  async garbled({ gate }) {
    gate.spoil('garbage')
    return () => gate.open()
  },
  async stopped({ valkey }) {
    valkey.signal('SIGSTOP')
    return async () => valkey.signal('SIGCONT')
  },
  async killed(place) {
    place.valkey.signal('SIGKILL')
    return async () => {
      place.retired.push(place.valkey)
      place.valkey = await startValkey(place.port)
    }
  },
  async full({ valkey }) {
    await tell(valkey.url, ['CONFIG', 'SET', 'maxmemory', '1'])
    return () => tell(valkey.url, ['CONFIG', 'SET', 'maxmemory', '0'])
  },
  async evicting({ valkey }) {
    await tell(valkey.url, ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random'])
    await tell(valkey.url, ['CONFIG', 'SET', 'maxmemory', '2500kb'])
    return async () => {
      await tell(valkey.url, ['CONFIG', 'SET', 'maxmemory', '0'])
      await tell(valkey.url, ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'])
    }
  },
  async flushed({ valkey }) {
    const timer = setInterval(() => void tell(valkey.url, ['FLUSHALL']), 50)
    return async () => clearInterval(timer)
  },
} satisfies Record<string, (place: Place) => Promise<() => Promise<void>>>

/** Every fault. */
export const cacheFaults = Object.keys(faults) as readonly CacheFault[]

const NOTES = 6
const READERS = 6

/** Each fault for `ms` milliseconds, and as long again after it. */
export async function cacheTrial(names: readonly CacheFault[], ms: number): Promise<Tally[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
  const valkey = await startValkey()
  const port = Number(new URL(valkey.url).port)
  const gate = await gateTo(valkey.url)
  const place: Place = { gate, port, valkey, retired: [] }
  const options = { store: join(folder, 'notes.db'), cache: `redis://127.0.0.1:${gate.port}` }
  const servers = [await startNotes(options), await startNotes(options)]
  const urls = servers.map(({ url }) => url)
  try {
    const tallies: Tally[] = []
    for (const fault of names) tallies.push(await under(fault, place, urls, ms))
    return tallies
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
    await gate.shut()
    for (const one of [place.valkey, ...place.retired]) await one.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Watched {
  readonly id: string
  /** The value of the last write that was answered. */
  answered: number
}

async function under(
  fault: CacheFault,
  place: Place,
  urls: readonly string[],
  ms: number,
): Promise<Tally> {
  const tally: Tally = { fault, reads: 0, hits: 0, writes: 0, stale: 0, other: 0, readMs: [] }
  const anywhere = () => urls[Math.floor(Math.random() * urls.length)] ?? ''
  const notes: Watched[] = []
  for (let at = 0; at < NOTES; at += 1) {
    const made = await send('POST', `${anywhere()}/notes`, { label: fault, n: 0 })
    notes.push({ id: made?.body.data?._id ?? '', answered: 0 })
  }
  let running = true
  const look = async ({ id, ...asked }: Watched) => {
    const startedAt = performance.now()
    const reply = await send('GET', `${anywhere()}/notes/${id}`)
    tally.readMs.push(performance.now() - startedAt)
    tally.reads += 1
    if (reply?.headers.get('x-cache') === 'HIT') tally.hits += 1
    if (reply?.status !== 200) tally.other += 1
    else if (Number(reply.body.data?.n) < asked.answered) tally.stale += 1
  }
  const writer = async (note: Watched) => {
    for (let n = 1; running; n += 1) {
      const reply: Reply | undefined = await send('PATCH', `${anywhere()}/notes/${note.id}`, { n })
      tally.writes += 1
      if (reply?.status === 200) note.answered = n
      else tally.other += 1
      await look(note)
      // Seldom enough that readers meet what the cache has kept.
      await delay(Math.random() * 500)
    }
  }
  const reader = async () => {
    while (running) {
      const note = notes[Math.floor(Math.random() * NOTES)]
      if (note) await look(note)
      await delay(Math.random() * 5)
    }
  }
  const clients = [...notes.map(writer), ...Array.from({ length: READERS }, reader)]
  await delay(ms / 4)
  const end = await faults[fault](place)
  await delay(ms)
  await end()
  await delay(ms)
  running = false
  await Promise.all(clients)
  const stored = new Map((await allNotes(anywhere())).map(({ _id, n }) => [_id, n]))
  tally.stale += notes.filter(({ id, answered }) => Number(stored.get(id)) < answered).length
  return tally
}

async function tell(url: string, command: readonly string[]): Promise<void> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  await client.sendCommand([...command])
  client.destroy()
}

/** `npm run faults -- cache`. */
export const cache = part({
  about: 'two servers, one SQLite file and a Valkey that fails',
  options: { seconds: 8 },
  async run({ seconds }): Promise<Report> {
    const tallies = await cacheTrial(cacheFaults, seconds * 1000)
    const rows = tallies.map(({ readMs, ...tally }) => ({
      ...tally,
      'read p50 ms': median(readMs).toFixed(1),
      'read p99 ms': median(readMs, 0.99).toFixed(0),
    }))
    return { rows, holds: tallies.every(({ stale, other }) => stale + other === 0) }
  },
})
