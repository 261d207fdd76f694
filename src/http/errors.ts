/**
 * The errors that carry an answer.
 *
 * @module
 */

/** What an `HttpError` may carry beyond its status and message. */
export interface HttpErrorOptions {
  /** Set on the response. */
  readonly headers?: HeadersInit
  /** Field name to message; never sent with a 5xx. */
  readonly fields?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/**
 * Ends a request with `status` and `message` in the envelope (spec 7). Guards, hooks and handlers throw it;
 * its message is sent to the client as it stands.
 */
export class HttpError extends Error {
  override readonly name: string = 'HttpError'
  readonly status: number
  readonly headers: HeadersInit | undefined
  readonly fields: Readonly<Record<string, string>> | undefined

  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.headers = options.headers
    this.fields = options.fields
  }
}

/** Refuses values: `fields` maps a field's full path to its message. Thrown by `validate` hooks too. */
export class ValidationError extends HttpError {
  override readonly name: string = 'ValidationError'

  constructor(message: string, fields?: Readonly<Record<string, string>>, status = 400) {
    super(status, message, fields ? { fields } : {})
  }
}
