import type { Progress } from './answers.ts'
import type { HeaderFields } from './connection.ts'

/** Options of every call. */
export interface CallOptions {
  /** Aborts the request; the result is then a failure with the status 0. */
  readonly signal?: AbortSignal
  /** Header fields of the request, over those of the client. */
  readonly headers?: HeaderFields
}

/** Options of calls that write. */
export interface WriteOptions extends CallOptions {
  /** Runs while files are sent, in browsers and React Native. Other platforms report no progress. */
  readonly onProgress?: (progress: Progress) => void
}

/** Options of `create`. */
export interface CreateOptions extends WriteOptions {
  /** Sent as `Idempotency-Key`, for routers with that guard: a second try with the same key makes no second record. */
  readonly idempotencyKey?: string
}

/** Options of calls that write an existing record. */
export interface Condition {
  /**
   * A record that this client has read, or an ETag: if the record has changed since, the call fails with a 412. Default:
   * no condition.
   */
  readonly ifMatch?: string | object
}
