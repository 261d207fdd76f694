/**
 * Functions of an app that must return at once. A promise of theirs has an owner here: without one, its rejection would
 * end the process.
 */

import { jsonLogger, type Logger } from '../services/logger.ts'

const told = new Set<string>()

/** Whether `value` is a promise; if it is, its rejection is taken care of. */
export function isPromise(value: unknown): boolean {
  const then = (value as { then?: unknown } | null | undefined)?.then
  if (typeof then !== 'function') return false
  Promise.resolve(value).catch(() => {})
  return true
}

/** What a function returned that `option` names: undefined for a promise, of which the log is told once. */
export function atOnce<T>(option: string, value: T, logger: Logger = jsonLogger): T | undefined {
  if (!isPromise(value)) return value
  if (!told.has(option))
    logger.warn(`${option} returned a promise, which counts as no value: it must not be async`)
  told.add(option)
  return undefined
}
