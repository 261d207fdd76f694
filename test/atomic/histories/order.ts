/**
 * Who must come before whom, and the circles in that.
 *
 * @module
 */

import type { Call } from './clients.ts'
import type { Chain } from './judge.ts'
import type { Seen } from './world.ts'

/** A call, or a moment of the clock: what had ended by then comes before what begins after it. */
interface Node {
  readonly name: string
  /** What comes after it, and why. */
  readonly before: Map<Node, string>
}

/** The calls that have taken place, by id. */
class Order {
  readonly nodes = new Map<string, Node>()
  readonly #chains: ReadonlyMap<string, Chain>
  readonly #calls: ReadonlyMap<string, Call>
  readonly faults: string[] = []

  constructor(calls: readonly Call[], chains: ReadonlyMap<string, Chain>) {
    this.#chains = chains
    this.#calls = new Map(calls.map((call) => [call.id, call]))
  }

  link(first: string | null | undefined, second: string | null | undefined, why: string): void {
    const [a, b] = [this.nodes.get(String(first)), this.nodes.get(String(second))]
    if (a && b && a !== b && !a.before.has(b)) a.before.set(b, why)
  }

  /** A call comes after who has written what it saw, and before who wrote that next. */
  reads(call: Call, [record, by]: Seen): void {
    const chain = this.#chains.get(record) ?? []
    if (by === null) {
      this.#misses(call, record, chain)
      return
    }
    const at = chain.findIndex(({ after }) => after?.by === by)
    if (at < 0) this.#fault(call, `has seen ${record} by ${by}, who has not written it`)
    this.link(by, call.id, `wrote ${record}, read by`)
    this.link(call.id, chain[at + 1]?.by, `read ${record}, then written by`)
  }

  /** What is not there has been removed, or for a list perhaps not been created yet. */
  #misses(call: Call, record: string, chain: Chain): void {
    const [first, last] = [chain[0], chain.at(-1)]
    const maker = this.#calls.get(String(first?.by))
    const isAfter = !call.isWhole || (maker && maker.end < call.start)
    if (!last?.after) {
      if (isAfter) this.link(last?.by, call.id, `removed ${record}, missed by`)
    } else if (isAfter) this.#fault(call, `has not seen ${record}, which was there`)
    else this.link(call.id, first?.by, `did not see ${record}, then created by`)
  }

  #fault({ kind, id }: Call, what: string): void {
    this.faults.push(`${kind} ${id} ${what}`)
  }
}

/** What no order of the calls explains. */
export function circlesIn(calls: readonly Call[], chains: ReadonlyMap<string, Chain>): string[] {
  const writers = new Set([...chains.values()].flat().map(({ by }) => by))
  const parts = calls
    .filter(({ id, end }) => end !== Number.POSITIVE_INFINITY || writers.has(id))
    // The pages of a walk are of several moments.
    .flatMap((call) =>
      call.isWalk
        ? call.seen.map((seen, at) => ({ ...call, id: `${call.id}.${at}`, seen: [seen] }))
        : [call],
    )
  const order = new Order(calls, chains)
  for (const { id, kind } of parts)
    order.nodes.set(id, { name: `${kind} ${id}`, before: new Map() })
  for (const [record, chain] of chains) {
    for (const [at, { by }] of chain.entries()) {
      order.link(chain[at - 1]?.by, by, `wrote ${record} before`)
    }
  }
  for (const call of parts) {
    for (const seen of [...call.seen, ...absentIn(call, chains)]) order.reads(call, seen)
  }
  inTime(parts, order.nodes)
  return [...order.faults, ...circle([...order.nodes.values()])]
}

/** The items that a list of all does not have. */
function absentIn(call: Call, chains: ReadonlyMap<string, Chain>): Seen[] {
  if (!call.isWhole || call.status !== 200) return []
  const seen = new Set(call.seen.map(([id]) => id))
  return [...chains].flatMap(([id, [created]]) =>
    created?.model === 'HistoryItem' && !seen.has(id) ? [[id, null] as const] : [],
  )
}

/** Adds the moments of the clock. */
function inTime(parts: readonly Call[], nodes: Map<string, Node>): void {
  const events = parts
    .flatMap((call) => [
      { at: call.start, call, isEnd: false },
      { at: call.end, call, isEnd: true },
    ])
    .filter(({ at }) => at !== Number.POSITIVE_INFINITY)
    .sort((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd))
  let moment: Node = { name: '', before: new Map() }
  for (const [at, { call, isEnd }] of events.entries()) {
    const own = nodes.get(call.id) as Node
    if (!isEnd) moment.before.set(own, 'ended before')
    else {
      const next: Node = { name: '', before: new Map() }
      moment.before.set(next, '')
      own.before.set(next, '')
      moment = next
      nodes.set(`moment ${at}`, next)
    }
  }
}

/** The shortest circle through one of the nodes, as a sentence; none if there is an order. */
function circle(nodes: readonly Node[]): string[] {
  const named = [...inCircles(nodes)].filter(({ name }) => name !== '')
  const ways = named
    .slice(0, 50)
    .map(wayBackTo)
    .filter((way) => way.length > 0)
  const [least] = ways.sort((a, b) => a.length - b.length)
  return least ? [`no order explains: ${least.join(' … ')}`] : []
}

/** The nodes that are left when what has nothing before it is taken away, again and again; then what has nothing after it. */
function inCircles(nodes: readonly Node[]): Set<Node> {
  const left = new Set(nodes)
  const after = new Map(nodes.map((node) => [node, [...node.before.keys()]]))
  takeFree(left, after)
  const before = new Map<Node, Node[]>([...left].map((node) => [node, []]))
  for (const node of left) for (const next of after.get(node) ?? []) before.get(next)?.push(node)
  takeFree(left, before)
  return left
}

/** Takes away what is behind none of those that are left, by `after`. */
function takeFree(left: Set<Node>, after: ReadonlyMap<Node, readonly Node[]>): void {
  const counts = new Map<Node, number>()
  const count = (node: Node, by: number) => {
    const sum = (counts.get(node) ?? 0) + by
    counts.set(node, sum)
    return sum
  }
  for (const node of left) for (const next of after.get(node) ?? []) count(next, 1)
  const free = [...left].filter((node) => !counts.has(node))
  for (const node of free) {
    left.delete(node)
    free.push(...(after.get(node) ?? []).filter((next) => count(next, -1) === 0))
  }
}

/** The shortest way from a node to itself; empty for what lies between two circles. */
function wayBackTo(start: Node): string[] {
  const from = comingFrom(start)
  const way = [start.name]
  let next = start
  do {
    const node = from.get(next)
    if (!node) return []
    if (node.name !== '') way.unshift(`${node.name} ${node.before.get(next) || 'ended before'}`)
    next = node
  } while (next !== start)
  return way
}

/** From where one comes to each node on the shortest way from `start`. */
function comingFrom(start: Node): ReadonlyMap<Node, Node> {
  const from = new Map<Node, Node>()
  const queue = [start]
  for (const node of queue) {
    for (const next of node.before.keys()) {
      if (from.has(next)) continue
      from.set(next, node)
      queue.push(next)
    }
  }
  return from
}
