/** Warnings about deprecated names, once per app each. */

import type { Logger } from '../../src/ports/services/logger.ts'
import { madeOnce } from '../../src/ports/values/once.ts'

/** What each app's logger has been told: apps in one process do not know each other. */
const saidTo = madeOnce((_: Logger) => new Set<string>())

/** Warns unless it has already warned this app about `name`; `code` goes into the details. */
export function warnOnce(logger: Logger, name: string, message: string, code?: string): void {
  const said = saidTo(logger)
  if (said.has(name)) return
  said.add(name)
  logger.warn(message, code === undefined ? undefined : { code })
}
