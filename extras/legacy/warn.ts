/** Warnings about deprecated names, once per process each. */

import type { Logger } from '../../src/ports/services/logger.ts'

const said = new Set<string>()

/** Warns unless it has already warned about `name` in this process; `code` goes into the details. */
export function warnOnce(logger: Logger, name: string, message: string, code?: string): void {
  if (said.has(name)) return
  said.add(name)
  logger.warn(message, code === undefined ? undefined : { code })
}
