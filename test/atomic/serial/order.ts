/**
 * Whether steps come to what they would one after the other: looks for an order of all of them, in which those that had ended
 * come before those that began later, and in which each tells what it told.
 *
 * @module
 */

import { type Call, type Deed, type Held, IDS, shown } from './world.ts'

/** The records of each model that are there. */
type State = readonly [ReadonlyMap<string, Held>, ReadonlyMap<string, Held>]

/** How many of the calls some order explains, from the first on: all of them if they are serializable. */
export function explained(calls: readonly Call[]): number {
  return new Search(calls.toSorted((a, b) => a.start - b.start)).most
}

/** Depth first, and not from the same place twice. */
class Search {
  most = 0
  readonly #all: readonly Call[]
  readonly #known = new Set<string>()

  constructor(all: readonly Call[]) {
    this.#all = all
    this.#goOn([new Map(), new Map()], new Set(), 0)
  }

  /** `done` are the calls of the order so far, among them all before `from`. */
  #goOn(state: State, done: ReadonlySet<number>, from: number): boolean {
    this.most = Math.max(this.most, done.size)
    const { length } = this.#all
    return (
      done.size === length ||
      nextOf(this.#all, done, from).some((at) => {
        const next = after(state, this.#all[at] as Call)
        return next !== undefined && this.#goOnFrom(next, new Set(done).add(at), from)
      })
    )
  }

  #goOnFrom(state: State, done: ReadonlySet<number>, before: number): boolean {
    let from = before
    while (done.has(from)) from += 1
    const late = [...done].filter((one) => one > from).sort((a, b) => a - b)
    const key = JSON.stringify([from, late, state.map((records) => [...records].sort())])
    const isKnown = this.#known.has(key)
    this.#known.add(key)
    return !isKnown && this.#goOn(state, done, from)
  }
}

/** The calls that may be next: nothing that has not been done had ended when they began. */
function nextOf(all: readonly Call[], done: ReadonlySet<number>, from: number): number[] {
  const open: number[] = []
  let firstEnd = Number.POSITIVE_INFINITY
  for (let at = from; at < all.length; at += 1) {
    const { start, end } = all[at] as Call
    if (start > firstEnd) break
    if (done.has(at)) continue
    open.push(at)
    firstEnd = Math.min(firstEnd, end)
  }
  return open.filter((at) => Number(all[at]?.start) <= firstEnd)
}

/** The state after a call; undefined if it would have told something else. */
function after(before: State, { deeds, told }: Call): State | undefined {
  const state = [new Map(before[0]), new Map(before[1])] as const
  const fits = deeds.every((deed, at) => tells(state[deed.model], deed).includes(told[at]))
  return fits ? state : undefined
}

/** What a deed may tell. */
function tells(records: Map<string, Held>, deed: Deed): readonly unknown[] {
  if ('get' in deed) return [shown([records.get(deed.get)])]
  if ('ids' in deed) {
    return [shown(IDS.flatMap((id) => (deed.ids.includes(id) ? (records.get(id) ?? []) : [])))]
  }
  if ('one' in deed) {
    const found = [...records.values()].filter(({ group }) => group === deed.one)
    // Another may have come before the one that was found.
    return found.length > 0 ? found.map((one) => shown([one])) : [shown([null])]
  }
  if ('remove' in deed) return [records.delete(deed.remove)]
  const { value, group } = deed
  const _id = 'update' in deed ? deed.update : deed.insert
  const isThere = records.has(_id)
  if (isThere !== 'update' in deed) return 'update' in deed ? [shown([null])] : []
  records.set(_id, { _id, value, group })
  return [shown([records.get(_id)])]
}
