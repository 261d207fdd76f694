/**
 * Creating and dropping indexes beside other processes and other indexes.
 *
 * @module
 */

import type { Collection } from 'mongodb'
import { hasCode, isDriverError } from '../connection/errors.ts'
import type { DesiredIndex } from './desired-indexes.ts'
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

/** The index exists under another name, or another index exists under its name. */
const OTHER_OPTIONS: ReadonlySet<unknown> = new Set([85, 86])

/** Creates an index; what the database has against it, if there is another one in its place. */
export async function refusal(
  native: Collection,
  { keys, options }: DesiredIndex,
): Promise<Error | undefined> {
  try {
    await native.createIndex(new Map(keys), options)
    return undefined
  } catch (error) {
    if (isDriverError(error) && OTHER_OPTIONS.has(error.code)) return error
    throw error
  }
}
