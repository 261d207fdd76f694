/**
 * Time by the turns of this thread: what others on the machine take of it is no time that this process waits.
 *
 * @module
 */

import { afterAll, beforeAll } from 'vitest'

const TURN_MS = 20

/** While the suite runs, gives the milliseconds in which this thread had its turns; on a machine with room, they are those of the clock. */
export function ownTime(): () => number {
  let turns = 0
  let timer: NodeJS.Timeout
  beforeAll(() => {
    timer = setInterval(() => {
      turns += 1
    }, TURN_MS)
  })
  afterAll(() => clearInterval(timer))
  return () => turns * TURN_MS
}
