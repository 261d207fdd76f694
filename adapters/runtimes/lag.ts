/**
 * Whether the event loop is behind: requests that have arrived wait longer for it than they should.
 *
 * @module
 */

/** A turn of the event loop that takes no longer holds nobody up. */
const CALM_MS = 50
/** Behind for so long it is no burst of requests that would soon be answered. */
const BURST_MS = 500

/**
 * A question to ask at the arrival of each request: whether it had better be refused, because the loop has been behind for
 * a while and this turn has lasted long already. So in an overload each turn answers what it can, and refuses the rest.
 */
export function eventLoopLag(now: () => number = () => performance.now()): () => boolean {
  let began: number | undefined
  let endedAt = 0
  let behindSince: number | undefined

  const end = (began_: number): void => {
    endedAt = now()
    began = undefined
    if (endedAt - began_ <= CALM_MS) behindSince = undefined
    else behindSince ??= began_
  }

  return () => {
    const at = now()
    if (began === undefined) {
      // Nobody has asked for a while: whatever was, is over.
      if (at - endedAt > CALM_MS) behindSince = undefined
      began = at
      setTimeout(end, 0, at)
    }
    const isLate = at - began > CALM_MS
    return isLate && behindSince !== undefined && at - behindSince > BURST_MS
  }
}
