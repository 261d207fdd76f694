/**
 * Dummy writes: made where a known account would be written and this one is not, so that timing does not reveal who has
 * an account. A database that finds nothing to change replies sooner, so a dummy write really changes something: records
 * as large as accounts, in a collection with their schema.
 *
 * Measured on SQLite in a file with 380 wrong passwords of each kind: an unknown account is told from a known one with an AUC
 * of 0.48 with these writes, which is chance, and of 0.37 without.
 */

import { outageIn } from '../../http/outages.ts'
import { all, any, everything, type Filter, withId } from '../../ports/filter.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Change, type Collection, DuplicateKey, type Fields } from '../../ports/store.ts'
import type { AuthSettings } from '../setup/settings.ts'

/** One write like a write to an account; similar to `like` if given. */
export type DummyWrite = (like?: Step) => Promise<void>

/** A change of an account, and its condition. */
export interface Step {
  readonly filter: Filter
  readonly change: Change
}

/** The account used for an unknown name, so that the steps of a known account are taken too. */
export const NOBODY: Fields = { _id: '' }

/** Several, because writes to one record wait for each other. */
const MAX_RECORDS = 16
/** As much text as an account that has signed in and has requested codes. */
const FILLER = 'x'.repeat(1000)

/** Writes to `collection`, which has the schema of the accounts'. */
export function dummyWrites(
  collection: Collection,
  { model, names }: AuthSettings,
  logger: Logger,
): DummyWrite {
  const plain: Step = {
    filter: everything,
    change: { increment: { [names.failedLoginAttempts]: 1 } },
  }
  const written = async ({ filter, change }: Step): Promise<void> => {
    const hex = Math.floor(Math.random() * MAX_RECORDS)
      .toString(16)
      .padStart(12, '0')
    const _id = model.idType === 'uuid' ? `00000000-0000-4000-8000-${hex}` : `000000000000${hex}`
    // The condition is evaluated, but always true.
    const evaluated = any([filter, { op: 'ne', field: '_id', value: null }])
    if (await collection.update(all([withId(_id), evaluated]), change)) return
    await collection.insert({ _id, [names.password]: FILLER })
  }
  return async (step = plain) => {
    try {
      await written(step)
    } catch (error) {
      if (error instanceof DuplicateKey) return
      // An outage affects real accounts too; a failure of dummy writes alone must not tell them apart.
      if (outageIn(error)) throw error
      logger.error('a decoy could not be written', { error: String(error) })
    }
  }
}
