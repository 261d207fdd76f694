/**
 * What is kept of a request with an `Idempotency-Key`: how far it has come with its write, what an earlier one has written,
 * and its receipt. A receipt is a step that is written together with what the request writes. If it is there, the request
 * has written; if it can no longer be taken, the request writes nothing. So nobody has to guess after an outage.
 */

import type { HttpError } from '../../http/errors/errors.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { WriteStep } from '../../ports/store/store.ts'

/** The ids of the records that a request writes, one for each operation of a batch; null for one that its path names. */
export type WrittenIds = readonly (string | null)[]

export interface Receipt {
  step(ids: WrittenIds): WriteStep
  /** What the request is refused with if the step fails. */
  readonly refusal: () => HttpError
}

export interface KeyedWrite {
  receipt?: Receipt
  /** What an earlier request has written for this one; undefined if it is to write. */
  written?: WrittenIds
  hasBegun: boolean
  hasWritten: boolean
}

/** Where a request keeps it; most requests have no key. */
export const KEYED: unique symbol = Symbol('keyed write')

export interface Keyed {
  [KEYED]?: KeyedWrite
}

/** From now on, what `request` writes is noted; it comes with a receipt, or is only told if an earlier one has written it. */
export function noteKey(
  request: ApiRequest & Keyed,
  known: Pick<KeyedWrite, 'receipt' | 'written'> = {},
): void {
  request[KEYED] = { ...known, hasBegun: false, hasWritten: false }
}

/** Notes how `write` ends; null means that there was nothing to write to. */
export async function noteWrite<T>(keyed: KeyedWrite | undefined, write: Promise<T>): Promise<T> {
  if (!keyed) return write
  keyed.hasBegun = true
  const result = await write
  if (result !== null) keyed.hasWritten = true
  return result
}

/** Whether nothing was written for a request that ended with this status. A failure of the store tells nothing. */
export function hasWrittenNothing(request: ApiRequest & Keyed, status: number): boolean {
  const keyed = request[KEYED]
  return !keyed?.hasBegun || (status < 500 && !keyed.hasWritten)
}
