/**
 * Where a write leaves its record: within the router's write scope, or refused; and in the response, only within its read
 * scope.
 *
 * @module
 */

import { HttpError } from '../../http/errors.ts'
import { outsideScope } from '../../http/refusals.ts'
import { all, everything, type Filter } from '../../ports/filter.ts'
import type { Fields } from '../../ports/store.ts'
import type { RecordEngine } from '../engine/record-engine.ts'

/** What is shown instead of a record outside of the read scope. */
export function idAlone({ _id }: Fields): string {
  return JSON.stringify({ _id })
}

/**
 * Runs `write`, which changes the record that matches `one` and `stays`. If it finds none because the record would leave
 * the scope, the refusal says so.
 */
export async function refusedOutside<T>(
  engine: RecordEngine,
  one: Filter,
  stays: Filter,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const isUnfound = error instanceof HttpError && [404, 409, 412].includes(error.status)
    // The write has decided; what is read now only names the reason.
    const leaves =
      isUnfound &&
      stays !== everything &&
      !(await engine.first(all([one, stays]))) &&
      (await engine.first(one)) !== undefined
    throw leaves ? outsideScope() : error
  }
}
