/**
 * Kills a writer of accounts with kill -9 at a random moment, and looks whether every change is there whole or not
 * at all: `FIELDGATE_RUNS=20 node -C fieldgate-source test/auth/kill.ts [URL of MongoDB]` kills 240 times, in eight changes each
 * time.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Store } from '../../src/index.ts'
import { runs } from '../runs.ts'
import { programOf } from '../services/program.ts'
import { type Account, deskOn, steps } from './steps.ts'

/** What the kills have come to. */
export interface Toll {
  rounds: number
  /** Changes that were looked at: the last of every kind before a kill. */
  changes: number
  /** Those of them that the kill cut off. */
  cut: number
  /** What did not hold. */
  readonly broken: string[]
}

interface Said {
  readonly step: string
  readonly account: Account
  readonly done: boolean
}

const LONGEST_MS = 150

/** Kills `rounds` writers, one after the other, on the store that `open(place)` of the module `opener` gives. */
export async function killWriters(rounds: number, opener: URL, place: string): Promise<Toll> {
  const { open } = (await import(opener.href)) as { open(place: string): Store }
  const toll: Toll = { rounds: 0, changes: 0, cut: 0, broken: [] }
  for (let round = 0; round < rounds; round += 1) {
    const said = await killOne(basename(opener.pathname, '.ts'), place, `${process.pid}-${round}`)
    await look(open(place), said.values(), toll)
    toll.rounds += 1
  }
  return toll
}

/** Checks what a writer has left. */
async function look(store: Store, said: Iterable<Said>, toll: Toll): Promise<void> {
  const desk = await deskOn(store)
  for (const { step, account, done } of said) {
    toll.changes += 1
    if (!done) toll.cut += 1
    const held = (await steps[step]?.check(desk, account, done)) ?? {}
    const broken = Object.keys(held).filter((sentence) => !held[sentence])
    const when = done ? 'after its answer' : 'cut off'
    toll.broken.push(...broken.map((sentence) => `${step}, ${when}: ${sentence}`))
  }
  await desk.close()
}

/** The last that a writer said of each step before it was killed. */
async function killOne(store: string, place: string, name: string): Promise<Map<string, Said>> {
  const program = programOf(new URL('kill-process.ts', import.meta.url))
  const writer = spawn(process.execPath, ['--no-warnings', program, store, place, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(writer, 'exit')
  const said = new Map<string, Said>()
  for await (const line of createInterface({ input: writer.stdout })) {
    const message = JSON.parse(line) as Said | 'ready'
    if (message !== 'ready') said.set(message.step, message)
    else setTimeout(() => writer.kill('SIGKILL'), Math.random() * LONGEST_MS)
  }
  const [, signal] = await gone
  if (signal !== 'SIGKILL') throw new Error('the writer ended by itself')
  return said
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , url] = process.argv
  const folder = await mkdtemp(join(tmpdir(), 'fieldgate-kill-'))
  const start = performance.now()
  try {
    const opener = new URL(url ? 'stores/mongodb.ts' : 'stores/sqlite.ts', import.meta.url)
    const toll = await killWriters(runs(12), opener, url ?? join(folder, 'accounts.db'))
    const seconds = ((performance.now() - start) / 1000).toFixed(0)
    console.log(
      `${toll.rounds} kills in ${seconds} s: of ${toll.changes} changes ${toll.cut} cut off, ${toll.broken.length} broken`,
    )
    for (const line of toll.broken) console.log(`  ${line}`)
    process.exitCode = toll.broken.length === 0 ? 0 : 1
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
