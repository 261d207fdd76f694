/** The ids that connect log lines to a request and to its trace. */

import type { Logger, LogLine } from '../ports/logger.ts'
import type { ObservedRequest } from '../ports/observer.ts'
import { traceParent } from '../ports/trace-parent.ts'

type Identified = Pick<ObservedRequest, 'headers' | 'requestId' | 'traceId'>

/** The trace of a request: from its span, else from its `traceparent` header; undefined if it has neither. */
export function traceIdOf({ traceId, headers }: Omit<Identified, 'requestId'>): string | undefined {
  const header = traceId === undefined ? headers.get('traceparent') : null
  return header === null ? traceId : traceParent(header)?.traceId
}

/** The ids for a log line about `request`. */
export function idsOf(request: Identified): {
  readonly requestId: string
  readonly traceId?: string
} {
  const { requestId } = request
  const traceId = traceIdOf(request)
  return traceId === undefined ? { requestId } : { requestId, traceId }
}

/** A logger that adds the trace of `request`, if it has one, to each line of `logger`. */
export function loggerFor(request: Identified, logger: Logger): Logger {
  const traceId = traceIdOf(request)
  if (traceId === undefined) return logger
  const line =
    (level: keyof Logger): LogLine =>
    (message, details) =>
      logger[level](message, { ...details, traceId })
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}
