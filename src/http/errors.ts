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

/** The codes of fieldgate's own refusals, beside them: to apps they are errors like their own. */
const codes = new WeakMap<HttpError, string>()

/** `error`, which problem details tell by `code`. A code never changes within a major version, and stands in docs/errors.md. */
export function coded<E extends HttpError>(code: string, error: E): E {
  codes.set(error, code)
  return error
}

/** What problem details tell an error by, if it says so itself. */
export const codeOf = (error: HttpError): string | undefined => error.code ?? codes.get(error)

/** A refusal of fieldgate's own. */
export const refusal = (
  code: string,
  status: number,
  message: string,
  options?: HttpErrorOptions,
): HttpError => coded(code, new HttpError(status, message, options))

/** A 400 of fieldgate's own. */
export const badRequest = (code: string, message: string): HttpError => refusal(code, 400, message)

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
