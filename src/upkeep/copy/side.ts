/**
 * A collection of any store, as a copy sees it.
 *
 * @module
 */

import { idFrom } from '../../model/cast.ts'
import type { Copyable } from '../../ports/copying.ts'
import { everything } from '../../ports/filter.ts'
import { DATE_AMONG_OTHERS, type IdType, type Shape, shapeInside } from '../../ports/shape.ts'
import type { Collection, CollectionSchema, Fields, Store } from '../../ports/store.ts'
import { batches, readable } from '../../ports/walk.ts'

/** The collection of `schema` in `store`; an empty one if it doesn't exist yet. */
export async function sideOf(store: Store, schema: CollectionSchema): Promise<Copyable<Fields>> {
  const collection = await readable(store.collection(schema))
  const foreign = store.copying?.foreign
  return {
    count: () => collection.count(everything),
    batches: () => batchesOf(collection, schema.idType),
    async counterparts(records) {
      const values = records.map(idOf)
      const filter = { op: 'in', field: '_id', values } as const
      const found = await collection.find({ filter, sort: [], limit: values.length })
      return new Map(found.map((record) => [idOf(record), record]))
    },
    async insert(record) {
      await collection.insert(record)
    },
    idOf,
    contentOf: (record) => new TextEncoder().encode(canonical(record, schema.shape)),
    ...(foreign && { foreign: () => foreign(schema) }),
  }
}

const idOf = ({ _id }: Fields): string => String(_id)

/** The records whose ids are the model's: another program may have stored other ones. */
async function* batchesOf(collection: Collection, idType: IdType): AsyncGenerator<Fields[]> {
  for await (const batch of batches(collection, idType)) {
    yield batch.filter((record) => idFrom(idOf(record), idType) === record._id)
  }
}

/**
 * JSON with sorted keys: stores may keep the members of objects in another order. A string at the place of a date counts
 * as the date that it is read as elsewhere.
 */
function canonical(value: unknown, shape: Shape | undefined): string {
  if (shape?.kind === 'date' && typeof value === 'string') {
    return shape === DATE_AMONG_OTHERS ? JSON.stringify(value) : canonical(new Date(value), shape)
  }
  if (Array.isArray(value)) {
    return `[${value.map((one, at) => canonical(one, shapeInside(shape, at, one))).join(',')}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (value instanceof Date) return JSON.stringify(value)
  // Whatever a driver returns for a type of its own.
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return canonical(value.toJSON(), shape)
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([key, member]) =>
        `${JSON.stringify(key)}:${canonical(member, shapeInside(shape, key, member))}`,
    )
  return `{${members.join(',')}}`
}
