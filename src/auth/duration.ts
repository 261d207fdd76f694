/**
 * Durations as options write them: `'15m'`, `'7d'`, or a number of seconds.
 *
 * @module
 */

/** A positive number of seconds, or a whole number with its unit. */
export type Duration = number | `${number}${'s' | 'm' | 'h' | 'd'}`

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds. Dates must stay within what stores can order: a hundred years are enough for any session. */
const LONGEST = 100 * 365 * 86_400

/** The duration in seconds, or undefined where `value` is none. */
export function secondsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return within(value)
  const [, digits, unit] = /^(\d+)([smhd])$/.exec(String(value)) ?? []
  return digits ? within(Number(digits) * UNITS[unit as keyof typeof UNITS]) : undefined
}

function within(seconds: number): number | undefined {
  return seconds > 0 && seconds <= LONGEST ? seconds : undefined
}
