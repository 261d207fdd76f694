/** Turns any thrown value into the envelope and one log line. */

import { $ZodError } from 'zod/v4/core'
import { firstMessages, messagesOf } from '../../ports/services/messages.ts'
import { QueryTooLong, RefusedWrite } from '../../ports/store/store-errors.ts'
import { stackText } from '../../ports/values/causes.ts'
import { pathOf } from '../../ports/values/paths.ts'
import { codeOf, HttpError, loggedMessage } from '../errors/errors.ts'
import { CLIENT_GONE, causeOf, type OutageLog, outageIn, outageLog } from '../errors/outages.ts'
import * as refuse from '../errors/refusals.ts'
import type { ApiRequest, RequestContext } from '../request/request.ts'
import { failureFor } from './problem.ts'

/** Options of `errorHandler`. */
export interface ErrorHandlerOptions {
  /** Whether responses include the stack. Default false: an unknown environment counts as production. */
  readonly development?: boolean
}

/** Makes the response of a request that failed. */
export type ErrorHandler = (
  error: unknown,
  request: ApiRequest,
  context: RequestContext,
) => Response | Promise<Response>

/**
 * Returns the handler that responds to every failure. An `HttpError` or `ValidationError` sends its status and message,
 * and below 500 its fields. An error of a zod schema is a 400 with its fields. A store that is unavailable or too slow
 * is a 503 with Retry-After. Everything else is a 500 that reveals only the request's id.
 *
 * The log has no words of clients but those for which `isName` returns true: names of the app's own.
 */
export function errorHandler(
  options: ErrorHandlerOptions = {},
  isName: (word: string) => boolean = () => false,
): ErrorHandler {
  const leftOut = outageLog()
  return (error, request, context) => {
    const known = refusalIn(error)
    const status = known?.status ?? 500
    const code = known ? codeOf(known) : 'internal-error'
    log(known ?? error, status, { request, context, code, leftOut, isName, thrown: error })
    const { requestId } = request
    const failure = {
      error: known?.message ?? 'Internal Server Error',
      fields: status < 500 && known?.fields ? firstMessages(known.fields) : undefined,
      requestId,
      stack: options.development && error instanceof Error ? error.stack : undefined,
      code,
    }
    return failureFor(request, status, failure, known?.headers)
  }
}

/** What the client may learn about `error`; undefined if the error is unexpected. */
function refusalIn(error: unknown): HttpError | undefined {
  if (error instanceof $ZodError) return refuse.invalidFields(messagesOf(error.issues))
  if (error instanceof HttpError) {
    const { status } = error
    return Number.isInteger(status) && status >= 400 && status <= 599 ? error : undefined
  }
  if (error instanceof RefusedWrite) return refusedWrite(error)
  if (error instanceof QueryTooLong) return refuse.queryTooLong()
  return outageIn(error)
}

/** A rule of the database's own, which the model does not have, refused a write. */
function refusedWrite({ rule, fields }: RefusedWrite): HttpError {
  if (rule === 'referenced') return refuse.referencedElsewhere()
  if (rule === 'size') return refuse.recordTooLarge()
  if (rule === 'overlap') return refuse.overlapping([])
  return rule === 'reference' && fields.length > 0
    ? refuse.noSuchReferences(fields)
    : refuse.invalidFields(Object.fromEntries(fields.map((field) => [field, 'Invalid value.'])))
}

interface Failed {
  readonly thrown: unknown
  readonly request: ApiRequest
  readonly context: RequestContext
  readonly code: string | undefined
  readonly leftOut: OutageLog
  readonly isName: (word: string) => boolean
}

/**
 * Logs one line per failed request, but in an outage one per second. It names the user, but has no query string, body
 * or token; the stack only if something broke.
 */
function log(error: unknown, status: number, failed: Failed): void {
  const { request, context, code, leftOut, isName, thrown } = failed
  const details = {
    requestId: request.requestId,
    method: request.method,
    path: pathOf(request.url),
    status,
    client: context.clientAddress,
    userId: request.auth?.userId,
  }
  if (status < 500) {
    const database = thrown instanceof RefusedWrite ? thrown.by : undefined
    const told = { ...details, code, database, error: loggedMessage(error, isName) }
    context.logger.info('request refused', told)
  } else if (status === 503) {
    const more = leftOut(error)
    if (more === undefined) return
    const told = { ...details, requestsBefore: more || undefined, error: causeOf(error) }
    const isGone = error instanceof HttpError && error.cause === CLIENT_GONE
    // It comes with the close of an app.
    const isNormal = isGone || code === 'live-list-closed'
    context.logger[isNormal ? 'info' : 'error']('service unavailable', told)
  } else {
    context.logger.error('request failed', { ...details, error: stackText(error) })
  }
}
