/** What `serve` rejects with if the database cannot be reached, or the server cannot listen. */

import { StoreUnavailable } from '../../src/ports/store/store-errors.ts'
import { causeText } from '../../src/ports/values/causes.ts'

/** A failed start as `serve` passes it on. If the store cannot be reached, one sentence says why; `cause` has the rest. */
export function startFailure(error: unknown): unknown {
  if (!(error instanceof StoreUnavailable)) return error
  const failure = new StoreUnavailable(`The app did not start: ${causeText(error)}`)
  // Node prints `[Getter]` instead of the driver's error, which is a screenful about the cluster.
  return Object.defineProperty(failure, 'cause', { get: () => error })
}

/** Why a server cannot listen on a port, by the code of the error. */
const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process. Stop that one, or take another port',
  EACCES: 'is not for this user. Take a port from 1024 on',
}

/** An error of listening on `port` as `serve` passes it on: one sentence, with the `code`. */
export function listenFailure(error: unknown, port: number): unknown {
  const { code, syscall = 'listen' } = Object(error) as NodeJS.ErrnoException
  const why = syscall === 'listen' ? WHY[String(code)] : undefined
  if (why === undefined) return error
  return Object.assign(new Error(`serve: port ${port} ${why}: serve(app, { port })`), { code })
}
