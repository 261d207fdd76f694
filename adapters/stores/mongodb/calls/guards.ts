/**
 * Guards of writes: documents that transactions change, so that two with the same guard conflict.
 *
 * @module
 */

import { type ClientSession, type Db, MongoError, type Collection as Native } from 'mongodb'
import type { WriteStep } from '../../../../src/ports/store.ts'
import { DUPLICATE_KEY, hasCode } from '../connection/errors.ts'

/** How many documents stand for all guards; two guards that share one only wait for each other. */
const PLACES = 4096

/** The code of a collection that exists. */
const EXISTS = 48

/** The guards of one database. */
export class Guards {
  readonly #database: Db
  readonly #native: Native<{ _id: number }>
  #created: Promise<void> | undefined

  constructor(database: Db) {
    this.#database = database
    this.#native = database.collection('fieldgate_guards')
  }

  /** Before the transaction of these steps, which cannot create the collection. */
  async prepare(steps: readonly WriteStep[]): Promise<void> {
    if (guardsOf(steps).length === 0) return
    this.#created ??= this.#create()
    try {
      await this.#created
    } catch (error) {
      this.#created = undefined
      throw error
    }
  }

  /** Takes the guards of the steps. Throws the error of a transaction that meets another one. */
  async take(steps: readonly WriteStep[], session: ClientSession): Promise<void> {
    for (const _id of guardsOf(steps)) {
      try {
        await this.#native.updateOne({ _id }, { $inc: { writes: 1 } }, { session, upsert: true })
      } catch (error) {
        // Another transaction has made the document since this one has begun.
        if (hasCode(error, DUPLICATE_KEY) && error instanceof MongoError) {
          error.addErrorLabel('TransientTransactionError')
        }
        throw error
      }
    }
  }

  async #create(): Promise<void> {
    await this.#database.createCollection(this.#native.collectionName).catch((error: unknown) => {
      if (!hasCode(error, EXISTS)) throw error
    })
  }
}

/** The places of the guards, in one order. */
function guardsOf(steps: readonly WriteStep[]): readonly number[] {
  const places = steps.flatMap((step) => ('guard' in step ? placeOf(step.guard) : []))
  return [...new Set(places)].sort((a, b) => a - b)
}

function placeOf(guard: string): number {
  let hash = 0
  for (const char of guard) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0
  return Math.abs(hash % PLACES)
}
