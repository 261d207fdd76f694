/** Calls that share a round trip: per command, a driver costs more than its database does. */

import { setImmediate } from 'node:timers'

/** More items than this go in several round trips. */
const MOST = 500

/**
 * A function whose calls in one turn of the event loop are handled by one call of `together`, which returns a promise
 * per item. A call sees everything that was completed before it, because its round trip starts after it. While calls come
 * one at a time, each is handled at once: the end of the turn would only cost time.
 */
export function gather<Item, Result>(
  together: (items: Item[]) => Promise<Result>[],
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve(result: Promise<Result>): void }[] = []
  let underWay = 0
  let areSingle = false

  function handle(items: Item[]): Promise<Result>[] {
    const results = together(items)
    areSingle = items.length === 1
    underWay += 1
    void Promise.allSettled(results).then(() => {
      underWay -= 1
    })
    return results
  }

  function send(): void {
    const calls = waiting
    waiting = []
    if (calls.length === 0) return
    const results = handle(calls.map(({ item }) => item))
    for (const [index, result] of results.entries()) calls[index]?.resolve(result)
  }

  return (item) => {
    if (areSingle && underWay === 0 && waiting.length === 0) {
      const [result] = handle([item])
      if (result) return result
    }
    return new Promise((resolve) => {
      waiting.push({ item, resolve })
      if (waiting.length === 1) setImmediate(send)
      if (waiting.length === MOST) send()
    })
  }
}

/**
 * `work`, called once at a time: calls that come while it is under way share the next one, and so do those that come while
 * `before` is awaited, which it begins with.
 */
export function sharing<Item, Result>(
  work: (items: Item[]) => Promise<readonly Result[]>,
  before?: () => Promise<void>,
): (item: Item) => Promise<Result> {
  return queued(async (waiting) => {
    if (before) await before()
    const calls = waiting.splice(0)
    const results = work(calls.map(({ item }) => item))
    for (const [at, { resolve }] of calls.entries()) {
      resolve(results.then((all) => all[at] as Result))
    }
    await results.catch(() => {})
  })
}

export interface Call<Item, Result> extends PromiseWithResolvers<Result> {
  readonly item: Item
}

/** A function whose calls with the same key wait for each other: `take` takes some of those that wait, until none is left. */
export function queued<Item, Result>(
  take: (waiting: Call<Item, Result>[]) => Promise<void>,
): (item: Item, key?: string) => Promise<Result> {
  const waiting = new Map<string, Call<Item, Result>[]>()
  const serve = async (key: string, calls: Call<Item, Result>[]) => {
    while (calls.length > 0) await take(calls)
    waiting.delete(key)
  }
  return (item, key = '') => {
    const call = { item, ...Promise.withResolvers<Result>() }
    const calls = waiting.get(key) ?? []
    calls.push(call)
    if (!waiting.has(key)) {
      waiting.set(key, calls)
      void serve(key, calls)
    }
    return call.promise
  }
}
