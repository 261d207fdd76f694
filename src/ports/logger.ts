/**
 * The logger port. `console`-like objects and most loggers fit as they are.
 *
 * @module
 */

/** Writes one line of a log; `details` are structured and hold no secret, body or query string. */
export type LogLine = (message: string, details?: Readonly<Record<string, unknown>>) => void

/** Where the kit logs to. */
export interface Logger {
  debug: LogLine
  info: LogLine
  warn: LogLine
  error: LogLine
}

/** The default logger: one JSON object a line, `debug` left out; control characters are escaped by JSON. */
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
