/**
 * How far a request has come with its write: before it began, and if the store refused it, nothing of it is stored.
 *
 * @module
 */

const begun = new WeakSet<Request>()
const done = new WeakSet<Request>()

/** Notes that `write` has begun for a request, and how it ends; null means that there was nothing to write to. */
export async function noteWrite<T>(request: Request, write: Promise<T>): Promise<T> {
  begun.add(request)
  const result = await write
  if (result !== null) done.add(request)
  return result
}

/** Whether nothing was written for a request that ended with this status. A failure of the store tells nothing. */
export function hasWrittenNothing(request: Request, status: number): boolean {
  return !begun.has(request) || (status < 500 && !done.has(request))
}
