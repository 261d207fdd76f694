/** The errors that become a response. */

import { echoed } from '../../ports/services/messages.ts'

/** What `new Headers` takes. Its name is known only to programs whose TypeScript has the types of browsers. */
export type HeaderValues = NonNullable<ConstructorParameters<typeof Headers>[0]>

/** Options of an `HttpError`. */
export interface HttpErrorOptions {
  /** Headers to set on the response. */
  readonly headers?: HeaderValues
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
  readonly headers: HeaderValues | undefined
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

/** What fieldgate knows of its own refusals: to apps they are errors like their own. */
const own = new WeakMap<HttpError, { readonly code: string; readonly message: string | Said }>()

/** `error`, which problem details tell by `code`. A code never changes within a major version, and stands in docs/errors.md. */
export function coded<E extends HttpError>(
  code: string,
  error: E,
  message: string | Said = error.message,
): E {
  own.set(error, { code, message })
  return error
}

/** What problem details tell an error by, if it says so itself. */
export const codeOf = (error: HttpError): string | undefined => error.code ?? own.get(error)?.code

interface Theirs {
  readonly word: string
}

/** Marks a word of a client in a message, see `said`. */
export const theirs = (word: string): Theirs => ({ word })

/** A message with words of a client: its text, with what `shown` makes of them. */
export type Said = (shown: (word: string) => string) => string

/** A message with words of a client, each in `theirs(…)`: clients get them cut, the log only what names something of the app's. */
export const said =
  (texts: TemplateStringsArray, ...parts: readonly (string | number | Theirs)[]): Said =>
  (shown) => {
    const words = parts.map((part) => (typeof part === 'object' ? shown(part.word) : part))
    return String.raw({ raw: texts }, ...words)
  }

/**
 * The message of `error` for the log: it may quote what a client sent, which may be a secret in the wrong place. Of the
 * client's words, and of what others have put in quotes, only those for which `isName` returns true stay.
 */
export function loggedMessage(error: unknown, isName: (word: string) => boolean): string {
  const told = (word: string) => (isName(word) ? word : '…')
  const known = own.get(error as HttpError)
  if (known) return typeof known.message === 'string' ? known.message : known.message(told)
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/'(.*)'/s, (_, word: string) => `'${told(word)}'`)
}

/** Refusals that tell what is stored in a field, with the same ones without it, for readers who may not see it. */
export const untold: WeakMap<object, readonly [field: string, error: HttpError]> = new WeakMap()

/** Those again, without the value that was to be written: who restores a record has not sent it. */
export const unsent: WeakMap<object, HttpError> = new WeakMap()

/** Throws `error`, without what is stored in a field that `sees` does not find. */
export async function asSeen(
  error: object,
  sees: (field: string) => Promise<unknown>,
): Promise<never> {
  const [field, other] = untold.get(error) ?? []
  throw field === undefined || (await sees(field)) ? error : other
}

/** A refusal of fieldgate's own. */
export const refusal = (
  code: string,
  status: number,
  message: string | Said,
  options?: HttpErrorOptions,
): HttpError => {
  const text = typeof message === 'string' ? message : message(echoed)
  return coded(code, new HttpError(status, text, options), message)
}

export const badRequest = (code: string, message: string | Said): HttpError =>
  refusal(code, 400, message)

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
