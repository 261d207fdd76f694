/**
 * Lists as texts. Those of one turn of the event loop that ask for the same are read and written out once: texts, unlike
 * records, can be shared.
 *
 * @module
 */

import type { Fields, Read } from '../../../src/ports/store.ts'
import { textOf } from './documents.ts'
import { gather } from './gather.ts'

/** Reads lists through `find`, each distinct one of a turn once. */
export function listReader(
  find: (read: Read) => Promise<Fields[]>,
): (read: Read) => Promise<string[]> {
  return gather((reads: Read[]) => {
    const known = new Map<string, Promise<string[]>>()
    return reads.map((read) => {
      const key = JSON.stringify(read, withDates)
      const texts = known.get(key) ?? textsOf(find(read))
      known.set(key, texts)
      return texts
    })
  })
}

async function textsOf(found: Promise<Fields[]>): Promise<string[]> {
  return (await found).map(textOf)
}

/** JSON would take a date and its text for the same. */
function withDates(this: Readonly<Fields>, key: string, value: unknown): unknown {
  return this[key] instanceof Date ? { date: value } : value
}
