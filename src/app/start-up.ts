/**
 * Start-up: once before the first request, and once more whenever something is declared later.
 *
 * @module
 */

/** The start-up of one app. */
export interface AppStart {
  /** Whether nothing is left to do. */
  isReady(): boolean
  /** Settles when nothing is left to do; rejects where it fails, or the app is closed. A failed start is tried again. */
  ready(): Promise<void>
  /** Says that there is more to do: always, or where a start has succeeded already. */
  declared(when: 'always' | 'started'): void
  /** Ends it for good, and settles when a start that is under way has ended. */
  close(): Promise<void>
}

/** Nothing started yet; `start` does all that there is to do. */
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
          // A store that cannot be reached yet is asked again by the next request.
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
