/**
 * Checks what clients saw of a record against what a single register could have shown them.
 *
 * @module
 */

/** One read or write. Times are places in one order of all beginnings and ends. */
export interface Operation {
  readonly kind: 'read' | 'write'
  /** Every write has a value of its own. */
  readonly value: number
  readonly start: number
  readonly end: number
}

/**
 * Why no register could have given this history, or undefined if one could. With a value of its own for every write
 * this is decided by the zones of the values (Gibbons and Korach, "Testing Shared Memories", 1997): a value's zone
 * lies between the earliest end and the latest start of the operations that wrote or read it.
 */
export function notLinearizable(history: readonly Operation[]): string | undefined {
  const impossible = readFromTheFuture(history)
  if (impossible) return impossible
  const zones: Zone[] = [...Map.groupBy(history, ({ value }) => value)].map(
    ([value, operations]) => {
      const firstEnd = Math.min(...operations.map(({ end }) => end))
      const lastStart = Math.max(...operations.map(({ start }) => start))
      const [low, high] = [Math.min(firstEnd, lastStart), Math.max(firstEnd, lastStart)]
      return { value, low, high, isForward: firstEnd < lastStart }
    },
  )
  const forward = zones.filter(({ isForward }) => isForward)
  for (const one of forward) {
    const other = zones.find((zone) => clashes(one, zone))
    if (other) return `${one.value} was there before and after ${other.value}`
  }
  return undefined
}

interface Zone {
  readonly value: number
  readonly low: number
  readonly high: number
  /** Whether the value must have been there from `low` to `high`. */
  readonly isForward: boolean
}

/** Whether no register holds the value of a forward zone and that of another one. */
function clashes(one: Zone, other: Zone): boolean {
  if (one === other) return false
  return other.isForward
    ? one.low < other.high && other.low < one.high
    : one.low < other.low && other.high < one.high
}

/**
 * Why a read was stale: it began after a write had been answered, and showed what had been overwritten before that
 * write began. Weaker than linearizability: reads that overlap writes may see them in any order.
 */
export function stale(history: readonly Operation[]): string | undefined {
  const impossible = readFromTheFuture(history)
  if (impossible) return impossible
  const writes = history.filter(({ kind }) => kind === 'write')
  const written = new Map(writes.map((write) => [write.value, write]))
  for (const read of history.filter(({ kind }) => kind === 'read')) {
    const source = written.get(read.value)
    const newer = writes.find(
      (write) => source && source.end < write.start && write.end < read.start,
    )
    if (newer) return `${read.value} was read after ${newer.value} had been answered`
  }
  return undefined
}

function readFromTheFuture(history: readonly Operation[]): string | undefined {
  const writes = history.filter(({ kind }) => kind === 'write')
  const written = new Map(writes.map((write) => [write.value, write]))
  const wrong = history.find(({ kind, value, end }) => {
    const source = written.get(value)
    return kind === 'read' && (!source || end < source.start)
  })
  return wrong && `${wrong.value} was read before it was written`
}
