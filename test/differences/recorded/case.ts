/**
 * What express-controller-sets 3.3 answers, which npm does not have: recorded by the contract and by measurements of the 3.3 that was
 * published as source.
 *
 * @module
 */

import type { Answer, Envelope } from '../../records/service.ts'

/** One thing that can be seen from outside. */
export interface Recorded {
  /** Words of the first cell of the row that it shows; none where both do the same. */
  readonly row?: string
  /** Does it to fieldgate and tells what was seen. */
  readonly asks: () => unknown
  /** What 3.3 does. */
  readonly there: unknown
  /** What fieldgate does, where that is something else. */
  readonly here?: unknown
}

/** Cases by their titles. */
export type Cases = Readonly<Record<string, Recorded>>

/** The status of a response. */
export async function status(response: Promise<{ status: number }>): Promise<number> {
  return (await response).status
}

/** One member of the records of a list, or the status if it was refused. */
export async function each(response: Promise<Answer>, name = 'title'): Promise<unknown> {
  const { status, body } = await response
  return Array.isArray(body.data) ? body.data.map((record) => record[name]) : status
}

/** The record of a response, or the status if it was refused. */
export async function record(response: Promise<Answer>): Promise<unknown> {
  const { status, body } = await response
  return status < 300 ? (body.data as Envelope['data']) : status
}

/** Whether start-up takes what `work` does. */
export function starts(work: () => unknown): 'starts' | 'is refused' {
  try {
    work()
    return 'starts'
  } catch {
    return 'is refused'
  }
}
