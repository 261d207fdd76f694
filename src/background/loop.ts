/**
 * Does something again and again in one process.
 *
 * @module
 */

import { causeOf, outageLog } from '../http/outages.ts'
import type { Host } from '../records/engine/host.ts'

/** How often those look again who wait for another process, and after a failure, in milliseconds. */
export const POLL_MS = 5000

/** As long as `serve` waits. */
const WAIT_MS = 25_000

/** Clocks jump, and timers stop while a machine sleeps. */
const LONGEST_SLEEP_MS = 60_000

/** What a step may ask. */
export interface Pace {
  /** Aborts when the step must end. */
  readonly signal: AbortSignal
  /** Whether the step should end soon: it finishes what it has begun. */
  readonly isClosing: boolean
  /** Resolves at `at`, in epoch milliseconds, or before: when somebody calls `wake` or the loop closes. */
  sleep(at: number): Promise<void>
}

/** Calls a step until it is closed. A step resolves to when it is to be called again, in epoch milliseconds. */
export class Loop implements Pace {
  isClosing = false
  readonly #host: Pick<Host, 'logger' | 'now'>
  readonly #step: (pace: Pace) => Promise<number>
  readonly #outages = outageLog()
  readonly #aborts = new AbortController()
  #running: Promise<void> | undefined
  #isAwake = false
  #wake = (): void => {}

  constructor(host: Pick<Host, 'logger' | 'now'>, step: (pace: Pace) => Promise<number>) {
    this.#host = host
    this.#step = step
  }

  get signal(): AbortSignal {
    return this.#aborts.signal
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends a sleep, or the next one. */
  wake(): void {
    this.#isAwake = true
    this.#wake()
  }

  async sleep(at: number): Promise<void> {
    const { now } = this.#host
    while (!this.#isAwake && !this.isClosing && now() < at) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(at - now(), LONGEST_SLEEP_MS))
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isAwake = false
  }

  async close(waitMs = WAIT_MS): Promise<void> {
    this.isClosing = true
    this.#wake()
    const abort = () => this.#aborts.abort(new Error('the app is closing'))
    const timer = setTimeout(abort, waitMs)
    await this.#running
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    while (!this.isClosing) await this.sleep(await this.#next())
  }

  /** When to do the next step. What fails is done again soon. */
  async #next(): Promise<number> {
    try {
      return await this.#step(this)
    } catch (error) {
      if (this.#outages.due(error) !== undefined) {
        this.#host.logger.error('background work is interrupted', { error: causeOf(error) })
      }
      return this.#host.now() + POLL_MS
    }
  }
}

/** The pace of a step that is called by itself. */
export function once(): Pace {
  const { signal } = new AbortController()
  return { signal, isClosing: false, sleep: async () => {} }
}
