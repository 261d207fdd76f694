/** What a client of a live list has missed. */

import { countFor, nextTurn } from '../../ports/promises/turns.ts'
import type { ChangeLog, LoggedChange } from '../../ports/store/changes.ts'

/**
 * The most entries that are told after a position, and the most characters that they have: the list itself is shorter. After a
 * deploy, all clients come at once.
 */
const MOST_ENTRIES = 1000
const MOST_LENGTH = 1024 * 1024

/** The entries of a model after a position; undefined if that is not known, or if they are too many. */
export async function missedAfter(
  log: ChangeLog,
  position: string,
  model: string,
): Promise<readonly LoggedChange[] | undefined> {
  const missed: LoggedChange[] = []
  let [limit, length] = [2, 0]
  for (let after = position; ; ) {
    const read = await log.read(after, { limit, models: [model] })
    if ('gone' in read) return undefined
    missed.push(...read.changes)
    length += JSON.stringify(read.changes).length
    if (missed.length >= MOST_ENTRIES || length > MOST_LENGTH) return undefined
    if (read.changes.length < limit) return missed
    after = read.position
    limit = countFor(length / missed.length, MOST_ENTRIES)
    await nextTurn()
  }
}
