/** What `serve` rejects with if the database cannot be reached. */

import { causeText } from '../../src/ports/causes.ts'
import { StoreUnavailable } from '../../src/ports/store-errors.ts'

/** A failed start as `serve` passes it on. If the store cannot be reached, one sentence says why; `cause` has the rest. */
export function startFailure(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable)) return error
  const failure = new StoreUnavailable(`The app did not start: ${causeText(error)}`)
  // Node prints `[Getter]` instead of the driver's error, which is a screenful about the cluster.
  return Object.defineProperty(failure, 'cause', { get: () => error })
}
