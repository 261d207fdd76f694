/**
 * The size of a response, counted before it is put together: beyond `maxResponseBytes` it is a 413.
 *
 * @module
 */

import { responseTooLarge } from '../../http/refusals.ts'
import { listJson, type Pagination } from '../../http/respond.ts'
import { utf8Length } from '../../http/utf8-length.ts'

/** The bytes of a date in JSON. */
const DATE_BYTES = 26
/** The most UTF-8 bytes per UTF-16 unit. */
const MOST_PER_UNIT = 3

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

/** The JSON of a list, if it has at most `most` bytes; otherwise throws a 413, before the records are joined. */
export function listJsonWithin(
  most: number,
  records: readonly string[],
  pagination?: Pagination,
): string {
  const size = new ResponseSize(most)
  for (const record of records) size.add(record.length)
  return jsonWithin(most, listJson(records, pagination))
}

/** `text`, if it has at most `most` bytes in UTF-8; otherwise throws a 413. */
export function jsonWithin(most: number, text: string): string {
  const fits =
    text.length * MOST_PER_UNIT <= most || (text.length <= most && utf8Length(text) <= most)
  if (!fits) throw responseTooLarge()
  return text
}
