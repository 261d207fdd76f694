/**
 * Creating an index where another one may be in its place.
 *
 * @module
 */

import type { Collection } from 'mongodb'
import { isDriverError } from '../connection/errors.ts'
import type { DesiredIndex } from './desired-indexes.ts'

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
