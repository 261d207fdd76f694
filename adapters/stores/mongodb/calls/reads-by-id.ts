/**
 * Reads of single records by their id, which share a round trip.
 *
 * @module
 */

import type { Read } from '../../../../src/ports/store.ts'
import { gather } from '../../gather.ts'

/** What reads must have in common to share a round trip. */
export interface Shared extends Pick<Read, 'select' | 'fillDefaults'> {
  readonly timeLimitMs?: number
}

/** A read by id. */
export interface Point {
  readonly id: string
  readonly shared: Shared
}

/** `read` as a read by id, if it asks for nothing else. */
export function pointOf({
  filter,
  after,
  skip,
  limit,
  select,
  fillDefaults,
  hints,
}: Read): Point | undefined {
  if (filter.op !== 'eq' || filter.field !== '_id' || after || skip || limit < 1) return undefined
  if (typeof filter.value !== 'string') return undefined
  // No signal: it would end the others too.
  const timeLimitMs = hints?.timeLimitMs
  const shared: Shared = {
    ...(select && { select }),
    ...(fillDefaults && { fillDefaults }),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  }
  return { id: filter.value, shared }
}

/**
 * Reads by ids. `together` returns what it found of the different ids that were asked for alike, and `copy` what the second
 * reader of one of them gets.
 */
export function pointReader<Found>(
  together: (ids: readonly string[], shared: Shared) => Promise<ReadonlyMap<string, Found>>,
  copy: (found: Found) => Found,
): (point: Point) => Promise<Found | undefined> {
  async function readAll(points: readonly Point[]): Promise<(Found | undefined)[]> {
    const ids = new Set(points.map(({ id }) => id))
    const found = await together([...ids], points[0]?.shared ?? {})
    return points.map(({ id }) => {
      const one = found.get(id)
      return one !== undefined && !ids.delete(id) ? copy(one) : one
    })
  }

  return gather((points: Point[]) => {
    const answers = new Map<Point, Promise<Found | undefined>>()
    for (const alike of Map.groupBy(points, ({ shared }) => JSON.stringify(shared)).values()) {
      const all = readAll(alike)
      for (const [at, point] of alike.entries()) {
        answers.set(
          point,
          all.then((found) => found[at]),
        )
      }
    }
    return points.map((point) => answers.get(point) ?? Promise.resolve(undefined))
  })
}
