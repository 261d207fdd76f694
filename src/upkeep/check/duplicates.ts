/**
 * Records with the same values in fields that should make them differ, found in one pass over all of them.
 *
 * @module
 */

import { digestOf } from '#hmac'
import { valueIn } from '../../model/value-at.ts'
import type { Fields } from '../../ports/store.ts'

/** How many values are kept to be looked at again; where there are more duplicates, the first tell enough. */
const MAX_SUSPECTS = 10_000

/** The values of one unique set of fields. A hash of each is kept, 8 bytes, so that millions fit in memory. */
export class Duplicates {
  readonly fields: readonly string[]
  readonly #hashes: Float64Array
  readonly #suspects = new Map<string, readonly unknown[]>()

  /** For about `records` records. */
  constructor(fields: readonly string[], records: number) {
    this.fields = fields
    // Half empty, so that a place is found soon; more records may have come since they were counted.
    this.#hashes = new Float64Array(2 ** Math.ceil(Math.log2((records + 1000) * 2)))
  }

  /** Records that lack one of the fields do not clash. */
  add(record: Fields): void {
    const values = this.fields.map((path) => valueIn(record, path))
    if (values.some((value) => value === undefined || value === null)) return
    const text = JSON.stringify(values)
    const isNew = this.#note(hashOf(text))
    if (!isNew && this.#suspects.size < MAX_SUSPECTS) this.#suspects.set(text, values)
  }

  /** Values that several records seem to have. */
  suspects(): Iterable<readonly unknown[]> {
    return this.#suspects.values()
  }

  /** Keeps a hash; whether it was not there before. */
  #note(hash: number): boolean {
    const { length } = this.#hashes
    for (let step = 0; step < length; step += 1) {
      const at = (hash + step) % length
      if (this.#hashes[at] === hash) return false
      if (this.#hashes[at] === 0) {
        this.#hashes[at] = hash
        return true
      }
    }
    // Full: whatever comes now is looked at.
    return false
  }
}

/** 48 bits, never 0. */
function hashOf(text: string): number {
  const bytes = digestOf(text)
  return (
    new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) * 2 ** 16 +
    (bytes[4] ?? 0) * 2 ** 8 +
    (bytes[5] ?? 0) +
    1
  )
}
