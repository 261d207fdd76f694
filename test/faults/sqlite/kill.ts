/**
 * Kills a server over SQLite with `kill -9` at random moments while clients write, starts it again, and compares what is
 * stored with what was acknowledged: `npm run faults -- kill`.
 *
 * @module
 */

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { allNotes, keepWriting } from '../notes/clients.ts'
import { Ledger, type Verdict } from '../notes/ledger.ts'
import { startNotes } from '../notes/process.ts'
import { median, part, total } from '../report.ts'

/** What the kills have come to. */
export interface KillToll extends Verdict {
  readonly kills: number
  readonly acknowledged: number
  /** Writes that a kill has cut off. */
  readonly cut: number
  /** What was stored at the end. */
  readonly records: number
  /** The longest write-ahead log that a kill has left, in bytes. */
  readonly longestLog: number
  /** Of each start with the file that a kill has left. */
  readonly startsInMs: readonly number[]
}

/** How it kills. */
export interface KillOptions {
  readonly rounds: number
  readonly writers: number
  /** The longest that a server lives under writes, in milliseconds. */
  readonly longestMs: number
}

/** Kills as many servers as there are rounds, one after the other, over one file. */
export async function killServers({ rounds, writers, longestMs }: KillOptions): Promise<KillToll> {
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-faults-'))
  const path = join(folder, 'notes.db')
  const ledger = new Ledger()
  const verdicts: Verdict[] = []
  const startsInMs: number[] = []
  let [cut, longestLog, records] = [0, 0, 0]
  let server = await startNotes({ store: path })
  try {
    for (let round = 0; round < rounds; round += 1) {
      const stop = new AbortController()
      const { url } = server
      const writing = keepWriting({
        count: writers,
        url: () => url,
        ledger,
        signal: stop.signal,
        refusalIsCertain: true,
        onFailure(reply) {
          if (!reply) cut += 1
        },
      })
      await firstAcknowledged(ledger)
      await delay(Math.random() * longestMs)
      const killed = server.kill()
      stop.abort()
      await Promise.all([killed, writing])
      longestLog = Math.max(longestLog, (await stat(`${path}-wal`)).size)
      server = await startNotes({ store: path })
      startsInMs.push(server.startedInMs)
      const stored = await allNotes(server.url)
      records = stored.length
      verdicts.push(ledger.verdict(stored))
    }
  } finally {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  }
  const { acknowledged } = ledger
  return { ...total(verdicts), kills: rounds, acknowledged, cut, records, longestLog, startsInMs }
}

/** A kill before the first write would test nothing. */
async function firstAcknowledged(ledger: Ledger): Promise<void> {
  const before = ledger.acknowledged
  while (ledger.acknowledged === before) await delay(5)
}

/** `npm run faults -- kill`. */
export const kill = part({
  about: 'kill -9 of a server over SQLite under writers',
  options: { rounds: 60, writers: 24, longestMs: 1500 },
  async run(options) {
    const { startsInMs, longestLog, lost, phantom, resurrected, duplicate, ...toll } =
      await killServers(options)
    const found = { lost, phantom, resurrected, duplicate }
    const row = {
      ...toll,
      ...found,
      'longest WAL, MB': (longestLog / 1e6).toFixed(1),
      'start, median ms': Math.round(median(startsInMs)),
      'start, slowest ms': Math.round(Math.max(...startsInMs)),
    }
    return { rows: [row], holds: Object.values(found).every((count) => count === 0) }
  },
})
