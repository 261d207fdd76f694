/**
 * Kills a process with `kill -9` while it writes batches, and looks whether each is there whole or not at all:
 * `npm run faults -- batch`.
 *
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { programOf } from '../../services/program.ts'
import { part } from '../report.ts'
import { type Holding, halves, libraryAt, type Where } from './books.ts'

/** What the kills have come to. */
export interface BatchKillToll {
  readonly kills: number
  /** Batches that were answered. */
  answered: number
  /** Batches that a kill has cut off before their response. */
  cut: number
  /** Of those, how many were written. */
  cutButWritten: number
  readonly broken: string[]
}

/** The longest that a process lives while it writes, in milliseconds. */
const LONGEST_MS = 120

/** Kills as many processes as there are rounds, one after the other, over the records at one place. */
export async function killBatches(
  rounds: number,
  where: Where,
  writers: number,
): Promise<BatchKillToll> {
  const { app, holdings } = libraryAt(where)
  const toll: BatchKillToll = { kills: rounds, answered: 0, cut: 0, cutButWritten: 0, broken: [] }
  try {
    await app.ready()
    for (let round = 0; round < rounds; round += 1) {
      // New ones each time: MongoDB keeps the locks of a killed process for a minute.
      const names = Array.from({ length: writers }, (_, at) => `book ${round}-${at}`)
      for (const name of names) {
        const body = JSON.stringify({ name, at: 0 })
        const headers = { 'content-type': 'application/json' }
        await app.handle(new Request('http://localhost/books', { method: 'POST', headers, body }))
      }
      const { answered, cut } = await killOne(where, names)
      toll.answered += answered.length
      toll.cut += cut.size
      let found = await holdings(names)
      // A commit that the kill has overtaken may still arrive between two reads.
      if (halves(found).length > 0) found = await holdings(names)
      toll.broken.push(...halves(found))
      for (const { book } of found) noteBook(toll, book, answered)
    }
  } finally {
    await app.close()
  }
  return toll
}

function noteBook(
  toll: BatchKillToll,
  { name, at }: Holding['book'],
  answered: readonly Answered[],
): void {
  const known = answered.findLast((one) => one.name === name)?.at ?? 0
  if (at < known) toll.broken.push(`${name} is at ${at} after the response to ${known}`)
  if (at > known) toll.cutButWritten += 1
}

interface Answered {
  readonly name: string
  readonly at: number
}

/** Lets a process write for a while, then kills it; resolves to what it was told of, and what it had begun. */
async function killOne(
  where: Where,
  names: readonly string[],
): Promise<{ answered: readonly Answered[]; cut: ReadonlySet<string> }> {
  const script = programOf(new URL('servers/writer.ts', import.meta.url))
  const given = [JSON.stringify(where), JSON.stringify(names)]
  const child = fork(script, given, { execArgv: ['--no-warnings'] })
  const gone = once(child, 'exit')
  const answered: Answered[] = []
  const cut = new Set<string>()
  let tellFirst = () => {}
  const first = new Promise<void>((resolve) => {
    tellFirst = resolve
  })
  child.on('message', (told: 'ready' | { begun: string } | Answered) => {
    if (told === 'ready') return
    if ('begun' in told) {
      cut.add(told.begun)
      return
    }
    cut.delete(told.name)
    answered.push(told)
    tellFirst()
  })
  // The first batch of a process takes far longer than those after it.
  await Promise.race([first, gone])
  await delay(Math.random() * LONGEST_MS)
  child.kill('SIGKILL')
  await gone
  return { answered, cut }
}

/** `npm run faults -- batch`. */
export const batch = part({
  about: 'kill -9 of a process while it writes batches, on SQLite',
  options: { rounds: 300, writers: 4 },
  async run({ rounds, writers }) {
    const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
    try {
      const toll = await killBatches(rounds, { path: join(folder, 'books.db') }, writers)
      for (const sentence of toll.broken) console.error(sentence)
      return { rows: [{ ...toll, broken: toll.broken.length }], holds: toll.broken.length === 0 }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
})
