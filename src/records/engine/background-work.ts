/**
 * What an app does beside its requests.
 *
 * @module
 */

/** Jobs, or a consumer of changes. */
export interface BackgroundWork {
  /** Runs at each start-up of the app, when the tables exist. */
  prepare(): Promise<void>
  /** Begins to do what is due, whenever it is, in this process. */
  start(): void
  /** Does what is due now, and resolves when it is done. */
  runDue(): Promise<void>
  /**
   * Takes nothing new, and resolves when what runs has ended. After `waitMs` its signal aborts. Calling it twice is
   * harmless.
   */
  close(waitMs?: number): Promise<void>
  /** What there is to tell of it, for commands. */
  status(): Promise<readonly WorkStatus[]>
}

/** What is known of a job. */
export interface WorkStatus {
  readonly name: string
  readonly kind: 'job'
  readonly schedule: string
  readonly timeZone: string
  readonly isRunning: boolean
  readonly next: Date | undefined
  /** The last tick that is done, with its error, if its run failed. */
  readonly last: Date | undefined
  readonly error: string
}
