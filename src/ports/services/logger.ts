/** The logger port, and the ids that connect log lines to a request and to its trace. `console`-like objects and most loggers fit as they are. */

import type { ObservedRequest } from './observer.ts'
import { traceParent } from './trace-parent.ts'

/** Writes one log line. `details` are structured and contain no secret, body or query string. */
export type LogLine = (message: string, details?: Readonly<Record<string, unknown>>) => void

/** Where fieldgate logs to. */
export interface Logger {
  debug: LogLine
  info: LogLine
  warn: LogLine
  error: LogLine
}

/** The default logger: one JSON object per line, without `debug`. JSON escapes control characters. */
export const jsonLogger: Logger = {
  debug() {},
  info: line('info'),
  warn: line('warn'),
  error: line('error'),
}

function line(level: 'info' | 'warn' | 'error'): LogLine {
  return (message, details) =>
    console[level](JSON.stringify({ time: new Date().toISOString(), level, message, ...details }))
}

/** `logger`, whose methods may throw or return promises: what is logged must not end a request, or the process. */
export function ownedLogger(logger: Logger): Logger {
  return eachLevel((level) => (message, details) => {
    try {
      Promise.resolve(logger[level](message, details) as unknown).catch(() => {})
    } catch {
      // There is nowhere left to tell it.
    }
  })
}

type Identified = Pick<ObservedRequest, 'headers' | 'requestId' | 'traceId'>

/** The trace of a request: from its span, else from its `traceparent` header; undefined if it has neither. */
export function traceIdOf(request: Omit<Identified, 'requestId'>): string | undefined {
  const { traceId } = request
  const header = traceId === undefined ? request.headers.get('traceparent') : null
  return header === null ? traceId : traceParent(header)?.traceId
}

/** The ids for a log line about `request`. */
export function idsOf(request: Identified): Pick<ObservedRequest, 'requestId' | 'traceId'> {
  const { requestId } = request
  const traceId = traceIdOf(request)
  return traceId === undefined ? { requestId } : { requestId, traceId }
}

/** A logger that adds the trace of `request`, if it has one, to each line of `logger`. */
export function loggerFor(request: Identified, logger: Logger): Logger {
  const traceId = traceIdOf(request)
  if (traceId === undefined) return logger
  return eachLevel((level) => (message, details) => logger[level](message, { ...details, traceId }))
}

function eachLevel(line: (level: keyof Logger) => LogLine): Logger {
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}
