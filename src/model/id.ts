/** Making record ids. */

import { hexOf } from '../ports/hex.ts'
import type { IdType } from '../ports/shape.ts'
import type { Fields } from '../ports/store.ts'
import type { Model } from './model.ts'

const COUNTER_SIZE = 0x1000000

/**
 * Returns a function that makes new ids. Object ids are MongoDB's: seconds, five random bytes per maker, and a counter,
 * so the ids of one maker ascend within a second. `now` returns epoch milliseconds.
 */
export function idMaker(now: () => number): (idType: IdType) => string {
  // Drawn when first needed: Workers provide no randomness while a module loads.
  let random: string | undefined
  let counter = 0
  return (idType) => {
    if (idType === 'uuid') return crypto.randomUUID()
    if (idType === 'integer') throw new TypeError('ids that are integers come from the database')
    if (random === undefined) {
      const bytes = crypto.getRandomValues(new Uint8Array(8))
      random = hexOf(bytes.subarray(0, 5))
      counter = Number.parseInt(hexOf(bytes.subarray(5)), 16)
    }
    counter = (counter + 1) % COUNTER_SIZE
    const seconds = Math.floor(now() / 1000) % 0x100000000
    const [first, last] = [seconds.toString(16), counter.toString(16)]
    return `${first.padStart(8, '0')}${random}${last.padStart(6, '0')}`
  }
}

/** A new record of `model`: `values` with its id, and with its times. */
export function newRecord(
  { timestamps: { createdAt, updatedAt } }: Pick<Model, 'timestamps'>,
  _id: string,
  values: Fields,
  now: Date,
): Fields {
  const record: Fields = { _id, ...values }
  if (createdAt !== undefined) record[createdAt] = now
  if (updatedAt !== undefined) record[updatedAt] = now
  return record
}
