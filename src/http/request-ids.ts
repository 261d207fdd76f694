/**
 * What ties the lines of a log to a request, and to the trace that it belongs to.
 *
 * @module
 */

import type { Logger, LogLine } from '../ports/logger.ts'
import type { ObservedRequest } from '../ports/observer.ts'
import { traceParent } from '../ports/trace-parent.ts'

type Identified = Pick<ObservedRequest, 'headers' | 'requestId' | 'traceId'>

/** The trace of a request: of its span, else of its `traceparent` header; undefined where it has neither. */
export function traceIdOf({ traceId, headers }: Omit<Identified, 'requestId'>): string | undefined {
  return traceId ?? traceParent(headers.get('traceparent'))?.traceId
}

/** The ids that a line about `request` carries. */
export function idsOf(request: Identified): {
  readonly requestId: string
  readonly traceId?: string
} {
  const { requestId } = request
  const traceId = traceIdOf(request)
  return traceId === undefined ? { requestId } : { requestId, traceId }
}

/** `logger`, which adds the trace of `request` to each line where it has one. */
export function loggerFor(request: Identified, logger: Logger): Logger {
  const traceId = traceIdOf(request)
  if (traceId === undefined) return logger
  const line =
    (level: keyof Logger): LogLine =>
    (message, details) =>
      logger[level](message, { ...details, traceId })
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}
