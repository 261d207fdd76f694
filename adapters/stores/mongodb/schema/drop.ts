/**
 * Dropping indexes that are no longer needed.
 *
 * @module
 */

import type { Collection } from 'mongodb'
import { hasCode } from '../connection/errors.ts'
import type { ExistingIndex } from './existing-indexes.ts'

const NO_INDEX = 27

/** Drops an index; another process may have dropped it first. */
export async function drop(native: Collection, { name = '' }: ExistingIndex): Promise<void> {
  try {
    await native.dropIndex(name)
  } catch (error) {
    if (!hasCode(error, NO_INDEX)) throw error
  }
}
