/** The logger port. `console`-like objects and most loggers fit as they are. */

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
