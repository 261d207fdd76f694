/**
 * Limits and hints for the reads of one request.
 *
 * @module
 */

import { type Deadline, deadlineOf } from '../../http/deadline.ts'
import type { ReadHints } from '../../ports/store.ts'

/** The hints of the router's options, limited to the time that `request` has left. */
export function hintsFor(hints: ReadHints, request: Request): ReadHints {
  const deadline = deadlineOf(request)
  return deadline ? new RequestHints(hints, deadline) : hints
}

/** The signal is created when a store reads it: most reads end without needing one. */
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
