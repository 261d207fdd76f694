/** Makes images smaller before they are stored. */

import { withTimeout } from '../ports/promises/with-timeout.ts'
import {
  type ImageOptimizer,
  type OptimizationLevel,
  type OptimizedType,
  TooManyPixels,
} from '../ports/services/images.ts'
import type { Logger } from '../ports/services/logger.ts'
import { madeOnce } from '../ports/values/once.ts'
import { imageTooLarge } from './refusals.ts'
import { bytesOf, type Source, strippedBytes } from './strip/stripped.ts'

const OPTIMISED: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp'])
const MAX_PIXELS = 50_000_000
/** The most time for one image, waiting included: its client waits too. */
const TIME_MS = 5000

export interface NewImage {
  readonly source: Source
  readonly mime: string
  readonly level: OptimizationLevel
  readonly client: unknown
}

/**
 * The bytes of a smaller image, or undefined if `source` is to be stored: another format, nothing gained, the encoder
 * failed, or no turn in time. Too many pixels are a 400: a decompression bomb relies on them being decoded.
 */
export async function optimised(
  { source, mime, level, client }: NewImage,
  images: ImageOptimizer,
  logger: Logger,
): Promise<Uint8Array | undefined> {
  if (!OPTIMISED.has(mime)) return undefined
  try {
    const smaller = await queueOf(images).run(client, TIME_MS, async (timeMs) => {
      const original = await bytesOf(source)
      return images.optimize(original, mime as OptimizedType, level, MAX_PIXELS, timeMs)
    })
    // Remove any metadata that the optimiser leaves in.
    const clean = await strippedBytes(smaller, mime)
    return clean.length < source.size ? clean : undefined
  } catch (error) {
    if (error instanceof TooManyPixels) throw imageTooLarge()
    logger.warn('an image could not be optimised; it was stored as it is', { error: String(error) })
    return undefined
  }
}

/** One queue per optimiser, even if several apps share it: the queue limits the memory that it uses. */
const queueOf = madeOnce((_: ImageOptimizer) => new ImageQueue())

/** If less time is left, no task is started. */
const LEAST_MS = 100
/** A task that does not end in time holds the queue for at most this much longer. */
const GRACE_MS = 10_000

/** A task that waits, or has its turn. */
interface Waiting {
  /** When its client gives it up; 0 once it has, without a turn. */
  until: number
  /** Gives it its turn. It runs for its own request alone: on Workers what runs for another one would end with that. */
  begin(): void
}

/** Runs one task at a time; clients take turns, so one with many images does not make all others wait for them. */
export class ImageQueue {
  /** By client, in the order of their turns. */
  readonly #clients = new Map<unknown, Waiting[]>()
  #turn: Waiting | undefined

  /** Runs `task`, which is told how many of the `ms` milliseconds are left. Rejects when they are over, begun or not. */
  async run<T>(client: unknown, ms: number, task: (left: number) => Promise<T>): Promise<T> {
    const until = performance.now() + ms
    const left = () => until - performance.now()
    const late = () => new Error('it took too long, or too many waited')
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>()
    const waiting: Waiting = { until, begin }
    this.#clients.set(client, [...(this.#clients.get(client) ?? []), waiting])
    // Workers may have ended, silently, the request whose turn it is.
    if (!this.#turn || this.#turn.until + GRACE_MS < performance.now()) this.#next()
    let work: Promise<T> | undefined
    const inTurn = async () => {
      if (this.#turn !== waiting) await turn
      if (left() < LEAST_MS) throw late()
      work = task(left())
      return work
    }
    try {
      return await withTimeout(ms, inTurn, late)
    } finally {
      if (this.#turn !== waiting) waiting.until = 0
      void this.#ended(waiting, left() + GRACE_MS, work)
    }
  }

  async #ended(waiting: Waiting, ms: number, work: Promise<unknown> | undefined): Promise<void> {
    const late = () => new Error('it goes on')
    if (work) await withTimeout(ms, () => work, late).catch(() => {})
    if (this.#turn === waiting) this.#next()
  }

  /** Gives the next one its turn, but none whose time is over: its client then goes to the end of the queue. */
  #next(): void {
    do {
      const [client, [first, ...others] = []] = this.#clients.entries().next().value ?? []
      this.#clients.delete(client)
      if (others.length > 0) this.#clients.set(client, others)
      this.#turn = first
    } while (this.#turn && this.#turn.until < performance.now())
    this.#turn?.begin()
  }
}
