/** The errors that become a response. */

/** Options of an `HttpError`. */
export interface HttpErrorOptions {
  /** Headers to set on the response. */
  readonly headers?: HeadersInit
  /** Messages by field name; never sent with a 5xx. */
  readonly fields?: Readonly<Record<string, string>>
  /** What programs tell the error by, in problem details (`Accept: application/problem+json`), such as `out-of-stock`. */
  readonly code?: string
  /** The error behind it, for the log; clients never see it. */
  readonly cause?: unknown
}

/**
 * Throw it in a guard, hook or handler to end the request with `status` and `message` in the envelope. The
 * client sees the message as it is.
 */
export class HttpError extends Error {
  override readonly name: string = 'HttpError'
  readonly status: number
  readonly headers: HeadersInit | undefined
  readonly fields: Readonly<Record<string, string>> | undefined
  readonly code: string | undefined

  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.headers = options.headers
    this.fields = options.fields
    this.code = options.code
  }
}

/** A 400. */
export const badRequest = (message: string): HttpError => new HttpError(400, message)

/**
 * Refuses values: `fields` maps a field's full path to its message. Your `validate` hooks can throw it too. The status
 * is 400 by default.
 */
export class ValidationError extends HttpError {
  override readonly name: string = 'ValidationError'

  constructor(message: string, fields?: Readonly<Record<string, string>>, status = 400) {
    super(status, message, fields ? { fields } : {})
  }
}
