/**
 * Calls that share a round trip: the driver costs more per command than the database does.
 *
 * @module
 */

import { setImmediate } from 'node:timers'

/** More than this go in several round trips. */
const MOST = 500

/**
 * A function whose calls of one turn of the event loop are answered `together`, which gives a promise for each item.
 * What was answered before a call is seen by it, since its round trip starts after it.
 */
export function gather<Item, Result>(
  together: (items: Item[]) => Promise<Result>[],
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve(result: Promise<Result>): void }[] = []

  function send(): void {
    const calls = waiting
    waiting = []
    if (calls.length === 0) return
    const results = together(calls.map(({ item }) => item))
    for (const [index, result] of results.entries()) calls[index]?.resolve(result)
  }

  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, resolve })
      if (waiting.length === 1) setImmediate(send)
      if (waiting.length === MOST) send()
    })
}
