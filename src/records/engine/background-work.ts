/** What an app does beside its requests. */

/** A job, or a consumer of changes. */
export interface BackgroundWork {
  readonly name: string
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
  status(): Promise<WorkStatus>
  /** Puts back what was set aside; resolves to how much. */
  retry?(): Promise<number>
}

export interface JobStatus {
  readonly kind: 'job'
  readonly name: string
  readonly isRunning: boolean
  readonly schedule: string
  readonly timeZone: string
  readonly next: Date | undefined
  /** The last tick that is done, with its error, if its run failed. */
  readonly last: Date | undefined
  readonly error: string
}

export interface ConsumerStatus {
  readonly kind: 'consumer'
  readonly name: string
  readonly isRunning: boolean
  /** When the first change was written that it has not looked at; undefined if there is none. */
  readonly behind: Date | undefined
  /** How many deliveries wait to be tried again. */
  readonly waiting: number
  /** How many deliveries were set aside, and some of them. */
  readonly aside: number
  readonly examples: readonly AsideStatus[]
  /** Receivers that have said that they want nothing any more. */
  readonly gone: readonly string[]
}

export interface AsideStatus {
  readonly change: string
  readonly model: string
  readonly record: string
  /** To whom, if there is a choice. */
  readonly to: string
  readonly attempts: number
  readonly since: Date
  readonly error: string
}

export type WorkStatus = JobStatus | ConsumerStatus
