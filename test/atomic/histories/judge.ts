/**
 * Says of calls and of the log of changes whether some order of the calls explains all that they saw, in the manner of Elle: the log
 * has the versions of each record in their order, and says whose each is. So who wrote before whom, who read what from whom, and
 * who read what somebody then replaced are known, besides who had ended before who began. A circle in that has no explanation.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import { type Call, clashesIn } from './clients.ts'
import { circlesIn } from './order.ts'

type Fields = { readonly [field: string]: unknown; readonly _id: string; readonly by: string }

/** An entry of the log of changes. */
export interface Entry {
  readonly id: string
  readonly model: string
  readonly kind: 'created' | 'updated' | 'removed'
  readonly before: Fields | null
  readonly after: Fields | null
  readonly by: string | null
}

export interface History {
  readonly calls: readonly Call[]
  readonly log: readonly Entry[]
  /** The records that are there in the end, of all models. */
  readonly left: readonly Fields[]
}

/** The writes of one record in their order. */
export type Chain = readonly Entry[]

/** What is wrong with a history, as sentences. */
export function faultsIn(history: History): string[] {
  const chains = Map.groupBy(history.log, ({ before, after }) => String((after ?? before)?._id))
  return [
    ...history.calls.flatMap(({ id, kind, wrong = [] }) =>
      wrong.map((one) => `${kind} ${id}: ${one}`),
    ),
    ...faultsOfLog(history, chains),
    ...clashesIn(history.left.filter(({ name }) => name !== undefined)),
    ...history.calls.flatMap((call) => faultsOfWrites(call, history.log)),
    ...history.calls.flatMap((call) => faultsOfMany(call, history, chains)),
    ...circlesIn(history.calls, chains),
  ]
}

const NEXT: Readonly<Record<string, string>> = { new: 'open', open: 'done', done: 'new' }

/** Each entry is there once, and what it was before is what the one before it has left. */
function faultsOfLog({ log, left }: History, chains: ReadonlyMap<string, Chain>): string[] {
  const there = new Map(left.map((record) => [record._id, record]))
  return [
    ...log.flatMap(({ id }, at) => {
      const last = log[at - 1]?.id
      return last === undefined || last < id ? [] : [`the log has ${id} after ${last}`]
    }),
    ...[...chains].flatMap(([record, chain]) => faultsOfChain(record, chain, there.get(record))),
    ...left.flatMap(({ _id, team }) => [
      ...(chains.has(_id) ? [] : [`${_id} is there, and not in the log`]),
      ...(team === undefined || there.has(String(team)) ? [] : [`the team of ${_id} is gone`]),
    ]),
  ]
}

function faultsOfChain(record: string, chain: Chain, left: Fields | undefined): string[] {
  let last: Fields | null = null
  const faults: string[] = []
  for (const { id, before, after, by } of chain) {
    const found = faultsOfChange(before, after)
    if (!isDeepStrictEqual(before, last)) found.push('was not as it was left')
    if (after && after.by !== by) found.push(`${by} has written what ${after.by} did`)
    faults.push(...found.map((one) => `${record}, in entry ${id}: ${one}`))
    last = after
  }
  if (!isDeepStrictEqual(left ?? null, last)) faults.push(`${record} is not as it was left`)
  return faults
}

/** A call adds at most a line, and no line is lost. */
function faultsOfChange(before: Fields | null, after: Fields | null): string[] {
  if (!before || !after || before.log === undefined) return []
  const [was, is] = [before.log, after.log] as [string[], string[]]
  const isKept = is.slice(0, was.length).join() === was.join()
  const added = is.slice(was.length)
  const isOwn = added.length === 0 || (added.length === 1 && added[0] === after.by)
  const isForward = after.from === undefined || Number(after.from) < Number(after.to)
  const isNext = before.state === after.state || NEXT[String(before.state)] === after.state
  return [
    ...(isKept && isOwn ? [] : [`lines are lost: ${was} became ${is}`]),
    ...(isForward ? [] : [`it is from ${after.from} to ${after.to}`]),
    ...(isNext ? [] : [`${before.state} became ${after.state}`]),
  ]
}

/** What was answered is stored whole, what was refused is not, and what nobody knows is one of both. */
function faultsOfWrites(
  { id, kind, status, end, wrote, writes }: Call,
  log: readonly Entry[],
): string[] {
  const own = log.filter(({ by }) => by === id)
  const ids = new Set(own.map(({ before, after }) => String((after ?? before)?._id)))
  const count = `${kind} ${id} (${status}) has written ${own.length}`
  if (ids.size < own.length) return [`${count}, some record twice`]
  const isDone = end !== Number.POSITIVE_INFINITY && status < 300
  if (isDone) {
    const lost = wrote.filter((record) => !ids.has(record))
    const isRight = kind === 'remove team' || own.length === wrote.length
    return lost.length === 0 && isRight ? [] : [`${count} and not ${wrote}`]
  }
  const mayBe = end === Number.POSITIVE_INFINITY && (writes === undefined || own.length === writes)
  return own.length === 0 || mayBe ? [] : [`${count} of ${writes}`]
}

/** A walk has each item that was there all the time once, and no item twice; a count has them, and none that was never there. */
function faultsOfMany(
  call: Call,
  { calls }: History,
  chains: ReadonlyMap<string, Chain>,
): string[] {
  const { id, kind, isWalk, counted } = call
  if (!isWalk && !counted) return []
  const byId = new Map(calls.map((one) => [one.id, one]))
  const room = counted?.room
  const items = [...chains.values()].flatMap((chain) => {
    const [created, last] = [chain[0], chain.at(-1)]
    if (created?.model !== 'HistoryItem' || (room && created.after?.room !== room)) return []
    const maker = byId.get(String(created.by))
    const remover = last?.after === null ? byId.get(String(last.by)) : undefined
    const record = String(created.after?._id)
    const isSure = Number(maker?.end) < call.start && !(remover && remover.start < call.end)
    const mayBe = Number(maker?.start) < call.end && !(remover && remover.end < call.start)
    return [{ record, isSure, mayBe }]
  })
  const least = items.filter(({ isSure }) => isSure).map(({ record }) => record)
  if (counted) {
    const most = items.filter(({ mayBe }) => mayBe).length
    const isRight = least.length <= counted.total && counted.total <= most
    return isRight ? [] : [`${kind} ${id} is ${counted.total} of ${least.length} to ${most}`]
  }
  const ids = call.seen.map(([record]) => record)
  const twice = ids.filter((record, at) => ids.indexOf(record) < at)
  const missed = least.filter((record) => !ids.includes(record))
  return [
    ...twice.map((record) => `${kind} ${id} has ${record} twice`),
    ...missed.map((record) => `${kind} ${id} misses ${record}`),
  ]
}
