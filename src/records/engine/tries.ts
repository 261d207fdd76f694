/**
 * Repeated tries of a conditional write that others overtake.
 *
 * @module
 */

/** How often a compare-and-set is tried before it gives up. */
export const MAX_TRIES = 50
/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE = 50

/** Lets others finish first, for a random time that grows with each try. */
export function pause(tries: number): Promise<void> {
  const longest = Math.min(2 ** tries, MAX_PAUSE)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}
