/**
 * Receipts: a step that is written together with what a request writes. If it is there, the request has written; if it
 * can no longer be taken, the request writes nothing. So nobody has to guess after an outage.
 *
 * @module
 */

import type { HttpError } from '../../http/errors.ts'
import type { ApiRequest } from '../../http/request.ts'
import type { WriteStep } from '../../ports/store.ts'

/** The ids of the records that a request writes, one for each operation of a batch; null for one that its path names. */
export type WrittenIds = readonly (string | null)[]

/** The receipt of one request. */
export interface Receipt {
  /** The step to take along. */
  step(ids: WrittenIds): WriteStep
  /** What the request is refused with if the step fails. */
  readonly refusal: () => HttpError
}

const receipts = new WeakMap<ApiRequest, Receipt>()
const written = new WeakMap<ApiRequest, WrittenIds>()

/** From now on, what `request` writes comes with `receipt`. */
export function giveReceipt(request: ApiRequest, receipt: Receipt): void {
  receipts.set(request, receipt)
}

/** The receipt that the writes of `request` come with. */
export function receiptOf(request: ApiRequest): Receipt | undefined {
  return receipts.get(request)
}

/** Notes that an earlier request has written what this one asks for, so that it only responds. */
export function noteWritten(request: ApiRequest, ids: WrittenIds): void {
  written.set(request, ids)
}

/** What an earlier request has written for this one; undefined if it is to write. */
export function writtenBefore(request: ApiRequest): WrittenIds | undefined {
  return written.get(request)
}
