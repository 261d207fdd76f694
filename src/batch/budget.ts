/**
 * What the operations of a batch read, keep and answer, counted in one place before anything is written.
 *
 * @module
 */

import { utf8Length } from '../http/respond.ts'
import type { Fields } from '../ports/store.ts'
import { batchTooLarge } from './refusals.ts'

/** Sizes of values that several records, or versions of one, share. */
const known = new WeakMap<object, number>()

/** Counts the bytes of one run of a batch. */
export class Budget {
  #left: number
  readonly #operations: number

  /** `most` is the number of bytes that all of its operations may have together. */
  constructor(most: number, operations: number) {
    this.#left = most
    this.#operations = operations
  }

  /** Counts `bytes` more. Throws a 413 once there are too many. */
  spend(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw batchTooLarge()
  }

  /** What each operation's response may add to its record by filling in references. */
  get share(): number {
    return Math.floor(this.#left / this.#operations)
  }
}

/** The bytes of a record as JSON. */
export function sizeOf(record: Fields): number {
  let bytes = 2
  for (const [name, value] of Object.entries(record)) {
    bytes += name.length + 4 + bytesOf(value)
  }
  return bytes
}

function bytesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' ? utf8Length(value) + 2 : String(value).length
  }
  const before = known.get(value)
  if (before !== undefined) return before
  const bytes = utf8Length(JSON.stringify(value) ?? '')
  known.set(value, bytes)
  return bytes
}
