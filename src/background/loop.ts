/** Does something again and again in one process. */

import { causeOf, outageLog } from '../http/errors/outages.ts'
import { withTimeout } from '../ports/promises/with-timeout.ts'
import type { Host } from '../records/engine/host.ts'

/** How often those look again who wait for another process, and after a failure, in milliseconds. */
export const POLL_MS = 5000

/** As long as `serve` waits. */
const WAIT_MS = 25_000

/** What has not ended so long after its signal does not listen to it: an app that closes has other things to close. */
const LEFT_MS = 15_000

/** Clocks jump, and timers stop while a machine sleeps. */
const LONGEST_SLEEP_MS = 60_000

/** Ends a sleep early. One that rings while nobody sleeps ends the next sleep. */
export class Bell {
  #hasRung = false
  #wake = (): void => {}

  ring(): void {
    this.#hasRung = true
    this.#wake()
  }

  /** Resolves after `ms` milliseconds, or when it rings: to whether it has. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#hasRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, LONGEST_SLEEP_MS))
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const hasRung = this.#hasRung
    this.#hasRung = false
    return hasRung
  }
}

export interface Pace {
  /** Aborts when the step must end. */
  readonly signal: AbortSignal
  /** Whether the step should end soon: it finishes what it has begun. */
  readonly isClosing: boolean
  /**
   * Resolves at `at`, in epoch milliseconds, or before if `bell` rings or the loop closes: to whether the step may go on. A
   * step that is called by itself may not.
   */
  sleep(at: number, bell?: Bell): Promise<boolean>
  /** Calls `beat` again and again, until the returned function is called, or the step is left behind. */
  every(ms: number, beat: () => void): () => void
}

/**
 * Aborts with `whole`, until it is released. Not `AbortSignal.any`: Node (22.23) keeps 200 bytes of each for as long as `whole` is
 * there, also of those that handlers make of the signal that they are given.
 */
export function partOf(whole: AbortSignal): [part: AbortController, release: () => void] {
  const part = new AbortController()
  const pass = () => part.abort(whole.reason)
  if (whole.aborted) pass()
  whole.addEventListener('abort', pass)
  return [part, () => whole.removeEventListener('abort', pass)]
}

/** Calls a step until it is closed. A step resolves to when it is to be called again, in epoch milliseconds. */
export class Loop implements Pace {
  isClosing = false
  readonly #host: Pick<Host, 'logger' | 'now'>
  readonly #work: string
  readonly #step: (pace: Pace) => Promise<number>
  readonly #leftOut = outageLog()
  readonly #aborts = new AbortController()
  readonly #bells = new Set<Bell>()
  readonly #beats = new Set<ReturnType<typeof setInterval>>()
  readonly every: Pace['every'] = (ms, beat) => every(ms, beat, this.#beats)
  #running: Promise<void> | undefined

  /** `work` names it in the log. */
  constructor(
    host: Pick<Host, 'logger' | 'now'>,
    work: string,
    step: (pace: Pace) => Promise<number>,
  ) {
    this.#host = host
    this.#work = work
    this.#step = step
  }

  get signal(): AbortSignal {
    return this.#aborts.signal
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async sleep(at: number, bell: Bell = new Bell()): Promise<boolean> {
    const { now } = this.#host
    this.#bells.add(bell)
    let before = now()
    // Of a clock that has been set back, nobody knows how far it is to `at`.
    while (!this.isClosing && now() < at && now() >= before) {
      before = now()
      if (await bell.wait(at - before)) break
    }
    this.#bells.delete(bell)
    return !this.isClosing
  }

  async close(waitMs: number = WAIT_MS): Promise<void> {
    this.isClosing = true
    for (const bell of this.#bells) bell.ring()
    const abort = () => this.#aborts.abort(new Error('the app is closing'))
    const timer = setTimeout(abort, waitMs)
    const late = () => new Error(`${this.#work} ignores its signal, and is left behind`)
    try {
      await withTimeout(waitMs + LEFT_MS, async () => this.#running, late)
    } catch (error) {
      this.#host.logger.warn((error as Error).message)
      // They would keep the process alive, which may have nothing else to do.
      for (const timer of this.#beats) clearInterval(timer)
    }
    this.#running = undefined
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    while (await this.sleep(await this.#next()));
  }

  /** When to do the next step. What fails is done again soon. */
  async #next(): Promise<number> {
    try {
      return await this.#step(this)
    } catch (error) {
      if (this.#leftOut(error) !== undefined) {
        const about = { work: this.#work, error: causeOf(error) }
        this.#host.logger.error('background work is interrupted', about)
      }
      return this.#host.now() + POLL_MS
    }
  }
}

/** Does `work`, and warns again and again while it takes longer than `ms`: nothing follows it until it ends. */
export async function watched<T>(
  { logger }: Pick<Host, 'logger'>,
  pace: Pace,
  title: string,
  about: object,
  ms: number,
  work: () => Promise<T>,
): Promise<T> {
  let minutes = 0
  const stop = pace.every(ms, () => {
    minutes += ms / 60_000
    logger.warn(`${title} has not ended for ${minutes} minutes`, { ...about })
  })
  try {
    return await work()
  } finally {
    stop()
  }
}

function every(ms: number, beat: () => void, all = new Set<unknown>()): () => void {
  const timer = setInterval(beat, ms)
  all.add(timer)
  return () => void (all.delete(timer) && clearInterval(timer))
}

/** The pace of a step that is called by itself. */
export function once(): Pace {
  const { signal } = new AbortController()
  return { signal, isClosing: false, sleep: async () => false, every }
}
