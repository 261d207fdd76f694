/** The live lists that are open in one process. */

import { liveEnded, tooManyStreams } from '../../http/errors/refusals.ts'

export interface OpenStream {
  /** When it asks next what its client may see, by `performance.now()`. */
  readonly askAt: number
  end(error: unknown): void
}

/** All ask every few seconds. One that does not has ended with its request, silently, as Workers end it. */
const LOST_MS = 60_000

export class OpenStreams {
  readonly #most: number
  readonly #open = new Set<OpenStream>()
  #isClosed = false

  constructor(most: number) {
    this.#most = most
  }

  /** Adds a stream. Throws a 503 if there are too many, or the app is closing. */
  add(stream: OpenStream): void {
    if (this.#isClosed) throw liveEnded()
    if (this.#open.size >= this.#most) {
      for (const one of this.#open)
        if (performance.now() - one.askAt > LOST_MS) this.#open.delete(one)
    }
    if (this.#open.size >= this.#most) throw tooManyStreams()
    this.#open.add(stream)
  }

  remove(stream: OpenStream): void {
    this.#open.delete(stream)
  }

  /** Ends all, and admits no more. */
  end(): void {
    this.#isClosed = true
    for (const stream of [...this.#open]) stream.end(liveEnded())
  }
}
