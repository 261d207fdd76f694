/**
 * Reads of single records by their id, which share a round trip.
 *
 * @module
 */

import type { Collection, FindOptions } from 'mongodb'
import type { ObjectShape } from '../../../src/ports/shape.ts'
import type { Fields, Read } from '../../../src/ports/store.ts'
import { gather } from '../gather.ts'
import { fromDocument } from './documents.ts'
import { compileFilter } from './filter.ts'

/** A read by id. */
export interface Point {
  readonly id: string
  readonly options: FindOptions
}

/** The id of `read`, if it asks for nothing else. */
export function idOf({ filter, after, skip, limit }: Read): string | undefined {
  if (filter.op !== 'eq' || filter.field !== '_id' || after || skip || limit < 1) return undefined
  return typeof filter.value === 'string' ? filter.value : undefined
}

/** Reads records of `native` by their ids; reads with the same options share a round trip. */
export function pointReader(
  native: Collection,
  shape: ObjectShape,
): (point: Point) => Promise<Fields[]> {
  return gather((points: Point[]) => {
    const answers = new Map<Point, Promise<Fields[]>>()
    for (const alike of Map.groupBy(points, ({ options }) => JSON.stringify(options)).values()) {
      const found = readAll(native, shape, alike)
      for (const [index, point] of alike.entries()) {
        answers.set(
          point,
          found.then((records) => records[index] ?? []),
        )
      }
    }
    return points.map((point) => answers.get(point) ?? Promise.resolve([]))
  })
}

/** The record of each of `points`, if there is one, as a copy of its own. */
async function readAll(
  native: Collection,
  shape: ObjectShape,
  points: readonly Point[],
): Promise<Fields[][]> {
  const ids = [...new Set(points.map(({ id }) => id))]
  const documents = await native
    .find(compileFilter({ op: 'in', field: '_id', values: ids }, shape), points[0]?.options)
    // Both, so that the server need not be asked for more. A negative limit alone says so, but many documents may need
    // another batch.
    .limit(ids.length === 1 ? -1 : ids.length)
    .batchSize(ids.length)
    .toArray()
  const records = new Map(
    documents.map((document) => {
      const record = fromDocument(document, shape)
      return [String(record._id), record]
    }),
  )
  const given = new Set<string>()
  return points.map(({ id }) => {
    const record = records.get(id)
    if (!record) return []
    if (given.has(id)) return [structuredClone(record)]
    given.add(id)
    return [record]
  })
}
