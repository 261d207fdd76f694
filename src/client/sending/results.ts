/** What calls of a client resolve to: failures are values. */

/** Why a call failed. */
export interface Failure {
  /** The status of the response; 0 if there was none: no network, an aborted request, a server that hung up. */
  readonly status: number
  /** The server's sentence. */
  readonly message: string
  /** What is wrong with each field, on a 400 or a 409. */
  readonly fields?: Readonly<Record<string, string>>
  /** Identifies the request in the server's log. */
  readonly requestId?: string
  /** How many seconds to wait before trying again, on a 429 or a 503. */
  readonly retryAfter?: number
  /** For the second step of a sign-in, and how many seconds it is valid. */
  readonly ticket?: string
  readonly expiresIn?: number
  /** The second factors that the account has: `totp`, `recovery-code`, `passkey`. */
  readonly secondStep?: readonly string[]
}

/** A call that the server has done. */
export interface Success<T, P = never> {
  readonly ok: true
  readonly data: T
  /** How the list was cut into pages, if it was. */
  readonly pagination?: P
  /** The version of what was read, for `ifMatch`. */
  readonly etag?: string
  /** Where the write is in the log of changes, if it has changed something and the model has one. */
  readonly changeId?: string
}

/** The outcome of a call. `if (found.ok)` tells its two forms apart. */
export type Result<T, P = never> = Success<T, P> | { readonly ok: false; readonly error: Failure }

/** Ends the loop over `all` or `pages` when a page cannot be read; it has the members of the failure. */
export class ClientError extends Error implements Failure {
  override readonly name = 'ClientError'
  declare readonly status: number
  declare readonly fields?: Readonly<Record<string, string>>
  declare readonly requestId?: string
  declare readonly retryAfter?: number

  constructor(failure: Failure) {
    super(failure.message)
    Object.assign(this, failure)
  }
}
