/** Failures, in the form that their client accepts. */

import type { MaybePromise } from '../ports/maybe-promise.ts'
import type { HeaderValues } from './errors.ts'
import { type Failure, failureResponse } from './respond.ts'

/** Problem details for clients that ask for them, else the envelope. */
export function failureFor(
  { headers: asked }: Request,
  status: number,
  failure: Failure,
  headers?: HeaderValues,
): MaybePromise<Response> {
  const accept = asked.get('accept')
  if (!accept || !/problem\+json/i.test(accept)) return failureResponse(status, failure, headers)
  return import('./problem.ts').then(({ problemResponse }) =>
    problemResponse(accept, status, failure, headers),
  )
}
