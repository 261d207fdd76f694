/**
 * Lists as JSON. Identical lists of one turn of the event loop are read and written out once: strings, unlike records,
 * can be shared.
 *
 * @module
 */

import type { Fields, Read } from '../../../../src/ports/store.ts'
import { gather } from '../../gather.ts'

/** Reads lists through `textsOf`, each distinct list of a turn once. */
export function listReader(
  textsOf: (read: Read) => Promise<string[]>,
): (read: Read) => Promise<string[]> {
  return gather((reads: Read[]) => {
    const known = new Map<string, Promise<string[]>>()
    return reads.map((read) => {
      const key = JSON.stringify(read, withDates)
      const texts = known.get(key) ?? textsOf(read)
      known.set(key, texts)
      return texts
    })
  })
}

/** JSON would take a date and its string for the same. */
function withDates(this: Readonly<Fields>, key: string, value: unknown): unknown {
  return this[key] instanceof Date ? { date: value } : value
}
