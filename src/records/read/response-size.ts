/**
 * The size of a response, counted while it is put together: beyond `maxResponseBytes` it is a 413.
 *
 * @module
 */

import { responseTooLarge } from '../../http/refusals.ts'

/** The bytes of a date in JSON. */
const DATE_BYTES = 26

/** Counts the least that a response will have. */
export class ResponseSize {
  #left: number

  /** `most` is the number of bytes that the response may have. */
  constructor(most: number) {
    this.#left = most
  }

  /** Counts `bytes` more. Throws a 413 once there are too many. */
  add(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw responseTooLarge()
  }
}

/** The fewest bytes that `value` takes as JSON: names, strings and punctuation, without escapes. */
export function leastBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Date) return DATE_BYTES
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value) bytes += leastBytes(item)
    return bytes
  }
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) bytes += name.length + 3 + leastBytes(member)
  }
  return bytes
}
