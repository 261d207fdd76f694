/**
 * What the reads of one request may cost.
 *
 * @module
 */

import { type Deadline, deadlineOf } from '../../http/deadline.ts'
import type { ReadHints } from '../../ports/store.ts'

/** As the router's options say, and no longer than `request` has time. */
export function hintsFor(hints: ReadHints, request: Request): ReadHints {
  const deadline = deadlineOf(request)
  return deadline ? new RequestHints(hints, deadline) : hints
}

/** The signal is made when a store asks for it: a read that is answered at once has no use for one. */
class RequestHints implements ReadHints {
  readonly timeLimitMs: number | undefined
  readonly allowDiskUse: boolean | undefined
  readonly batchSize: number | undefined
  readonly #deadline: Deadline

  constructor({ timeLimitMs, allowDiskUse, batchSize }: ReadHints, deadline: Deadline) {
    this.timeLimitMs = timeLimitMs
    this.allowDiskUse = allowDiskUse
    this.batchSize = batchSize
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.own
  }
}
