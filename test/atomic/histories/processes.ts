/**
 * Histories over processes that serve the same records, and are killed.
 *
 * @module
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Where } from '../../faults/atomic/place.ts'
import { runs } from '../../runs.ts'
import { programOf } from '../../services/program.ts'
import type { Send } from './clients.ts'
import { historyOver, over } from './run.ts'

/** A process that serves, or the one that was started in its place. */
class Served {
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined
  #send: Send = async () => undefined
  readonly #args: readonly string[]

  constructor({ processes = 1, cache = '' }: Trial, where: Where) {
    this.#args = [JSON.stringify(where), String(processes), cache]
  }

  async start(): Promise<void> {
    const script = programOf(new URL('servers/node.ts', import.meta.url))
    const args = ['--no-warnings', script, ...this.#args]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child = child
    const [url] = await once(child.stdout, 'data')
    this.#send = over(String(url).trim().replace(/\/$/, ''), 0.03)
  }

  async kill(): Promise<void> {
    const gone = this.#child && once(this.#child, 'exit')
    this.#child?.kill('SIGKILL')
    await gone
  }

  /** Kills one of the processes that it has started. */
  killWorker(): void {
    const { pid } = this.#child ?? {}
    const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    const one = Number(workers[Math.floor(Math.random() * workers.length)])
    if (one > 0) process.kill(one, 'SIGKILL')
  }

  readonly send: Send = (...given) => this.#send(...given)
}

export interface Trial {
  /** Where the records are. */
  readonly place: () => Where
  /** Done again and again. */
  readonly disturb?: () => Promise<void>
  /** The URL of a cache, or `memory`. */
  readonly cache?: string
  /** How many processes one server has. With several there is one server, whose processes are killed; else two servers. */
  readonly processes?: number
}

/** Registers the trial with this name. */
export function historiesOfProcesses(name: string, trial: Trial): void {
  const { place, disturb, processes = 1 } = trial
  it(`${name}: some order of all calls explains what each of them saw, also of killed processes`, {
    timeout: 600_000,
  }, async () => {
    const where = place()
    const [first, second] = [new Served(trial, where), new Served(trial, where)]
    // One after the other: two that make the tables at the same time would wait for each other.
    await first.start()
    if (processes === 1) await second.start()
    const ways = processes === 1 ? [first.send, second.send] : [first.send]
    const size = { clients: 10, ms: runs(4) * 1000, isRough: true }
    const { faults, counts } = await historyOver(ways, size, async (isOver) => {
      while (!isOver()) {
        await delay(300 + Math.random() * 700)
        await disturb?.()
        if (processes > 1) {
          first.killWorker()
          // Those that end soon after their start are replaced later and later.
          await delay(3000)
        } else {
          await second.kill()
          await second.start()
        }
      }
    })
    await first.kill()
    await second.kill()
    console.info(name, counts)
    expect(faults.slice(0, 20)).toEqual([])
    expect(counts['step 200']).toBeGreaterThan(0)
  })
}
