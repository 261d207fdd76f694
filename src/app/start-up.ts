/**
 * Start-up: runs once before the first request, and again whenever something is declared later.
 *
 * @module
 */

/** The start-up of one app. */
export class AppStart {
  /** Whether nothing is left to do. */
  isReady = false
  readonly #start: () => Promise<void>
  #starting: Promise<void> | undefined
  #hasStarted = false
  #isClosed = false

  /** `start` does the work. */
  constructor(start: () => Promise<void>) {
    this.#start = start
  }

  /**
   * Resolves when nothing is left to do; rejects if start-up fails, or the app is closed. A failed start is tried
   * again.
   */
  ready(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the app is closed'))
    if (this.#starting) return this.#starting
    const attempt = this.#start().then(
      () => {
        this.#hasStarted = true
        this.isReady = this.#starting === attempt
      },
      (error: unknown) => {
        // If the store cannot be reached yet, the next request tries again.
        if (this.#starting === attempt) this.#starting = undefined
        throw error
      },
    )
    this.#starting = attempt
    return attempt
  }

  /** Declares that there is more to do: always, or only if a start has succeeded already. */
  declared(when: 'always' | 'started'): void {
    if (when === 'started' && !this.#hasStarted) return
    this.#starting = undefined
    this.isReady = false
  }

  /** Ends it for good; resolves when a running start has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#starting?.catch(() => {})
  }
}
