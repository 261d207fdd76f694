/** A running service. */
export interface Service {
  /** Its origin. */
  readonly url: string
  stop(): Promise<void>
}
