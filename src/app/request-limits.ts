/**
 * The limits on the time of a request and on the number of requests at once.
 *
 * @module
 */

import type { AppContext } from './context.ts'

/** A request that runs longer than this will never end: Workers end one silently when its client goes away. */
const MAX_RUN_MS = 10 * 60_000

/** Counts the requests of an app that have no response yet. */
export class RequestLimits {
  /** Whether there are as many as are allowed. Those beyond are refused at once, so that the others are in time. */
  isFull = false
  readonly #max: number
  /** When each arrived, in that order. */
  readonly #running = new Map<AppContext, number>()

  /** Allows `max` requests at once; 0 for any number. */
  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max
  }

  /** Whether one more may run, once those are forgotten that will never end. */
  hasRoom(): boolean {
    for (const [context, arrivedAt] of this.#running) {
      if (arrivedAt > Date.now() - MAX_RUN_MS) break
      this.#running.delete(context)
    }
    this.isFull = this.#running.size >= this.#max
    return !this.isFull
  }

  /** The response, which never rejects, or what `late` returns if the time of its request is over first. */
  inTime(
    response: Promise<Response>,
    context: AppContext,
    late: (reason: Error) => Promise<Response>,
  ): Promise<Response> {
    this.#running.set(context, Date.now())
    this.isFull = this.#running.size >= this.#max
    const { promise, resolve } = Promise.withResolvers<Response>()
    const remove = () => {
      this.#running.delete(context)
      this.isFull = this.#running.size >= this.#max
    }
    context.start((reason) => {
      remove()
      resolve(late(reason))
    })
    void response.then((made) => {
      remove()
      if (context.conclude() === 'over') void made.body?.cancel()
      else resolve(made)
    })
    return promise
  }
}
