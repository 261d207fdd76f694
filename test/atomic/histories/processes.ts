/**
 * Histories over processes that serve the same records, and are killed.
 *
 * @module
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
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
  readonly #place: readonly string[]

  constructor(where: Where, cache: string) {
    this.#place = [JSON.stringify(where), cache]
  }

  async start(): Promise<void> {
    const script = programOf(new URL('servers/node.ts', import.meta.url))
    const args = ['--no-warnings', script, ...this.#place]
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

  readonly send: Send = (...given) => this.#send(...given)
}

/** Registers the trial for the store with this name; `disturb` is done again and again, `cache` is the URL of one. */
export function historiesOfProcesses(
  store: string,
  place: () => Where | Promise<Where>,
  disturb: () => Promise<void> = async () => {},
  cache = '',
): void {
  it(`${store}: some order of all calls explains what each of them saw, also of killed processes`, {
    timeout: 600_000,
  }, async () => {
    const where = await place()
    const all = [new Served(where, cache), new Served(where, cache)]
    // One after the other: two that make the tables at the same time would wait for each other.
    for (const one of all) await one.start()
    const { faults, counts } = await historyOver(
      all.map(({ send }) => send),
      { clients: 10, ms: runs(8) * 1000, isRough: true },
      async (isOver) => {
        for (let at = 0; !isOver(); at += 1) {
          await delay(300 + Math.random() * 700)
          await disturb()
          const one = all[1 + (at % (all.length - 1))]
          await one?.kill()
          await one?.start()
        }
      },
    )
    for (const one of all) await one.kill()
    console.info(store, counts)
    expect(faults.slice(0, 20)).toEqual([])
    expect(counts['step 200']).toBeGreaterThan(0)
  })
}
