/**
 * Start-up: runs once before the first request, and again whenever something is declared later.
 *
 * @module
 */

/** The start-up of one app. */
export interface AppStart {
  /** Whether nothing is left to do. */
  isReady(): boolean
  /**
   * Resolves when nothing is left to do; rejects if start-up fails, or the app is closed. A failed start is tried
   * again.
   */
  ready(): Promise<void>
  /** Declares that there is more to do: always, or only if a start has succeeded already. */
  declared(when: 'always' | 'started'): void
  /** Ends it for good; resolves when a running start has ended. */
  close(): Promise<void>
}

/** The start-up of one app; `start` does the work. */
export function appStart(start: () => Promise<void>): AppStart {
  let starting: Promise<void> | undefined
  // The promise of the start that has succeeded.
  let started: Promise<void> | undefined
  let isClosed = false
  return {
    isReady: () => started !== undefined && started === starting,
    ready() {
      if (isClosed) return Promise.reject(new Error('the app is closed'))
      if (starting) return starting
      const attempt = start().then(
        () => {
          started = attempt
        },
        (error: unknown) => {
          // If the store cannot be reached yet, the next request tries again.
          if (starting === attempt) starting = undefined
          throw error
        },
      )
      starting = attempt
      return attempt
    },
    declared(when) {
      if (when === 'always' || started) starting = undefined
    },
    async close() {
      isClosed = true
      await starting?.catch(() => {})
    },
  }
}
