/** Records of the app's own, beside those of models. */

import { hexDigestOf } from '#hmac'
import { all, withId } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import type { Shape } from '../ports/store/shape.ts'
import type { Collection, CollectionSchema } from '../ports/store/store.ts'
import { DuplicateKey } from '../ports/store/store-errors.ts'

const SHAPES: Readonly<Record<'boolean' | 'date' | 'integer' | 'string', Shape>> = {
  boolean: { kind: 'boolean' },
  date: { kind: 'date' },
  integer: { kind: 'number', isInteger: true },
  string: { kind: 'string' },
}

/** A collection with `fields` beside `_id`, by their types, and with these indexes. */
export function ownSchema(
  name: string,
  fields: Readonly<Record<string, keyof typeof SHAPES>>,
  indexes: readonly (readonly string[])[] = [],
): CollectionSchema {
  const shapes = Object.entries(fields).map(([field, type]) => [field, SHAPES[type]] as const)
  const id = { kind: 'id', idType: 'objectId' } as const
  return {
    ...{ name, idType: 'objectId', searchable: [], unique: [] },
    shape: { kind: 'object', fields: new Map<string, Shape>([['_id', id], ...shapes]) },
    indexes: indexes.map((index) => index.map((field) => ({ field, descending: false }))),
  }
}

export function ownId(name: string): string {
  return hexDigestOf(name).slice(0, 24)
}

/** What a write gives; undefined if what must be unique is taken. */
export async function unlessTaken<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof DuplicateKey) return undefined
    throw error
  }
}

/** Inserts a record; resolves to false if there is one with its id, or what must be unique is taken. */
export async function insertOnce(
  records: Pick<Collection, 'insert'>,
  record: Fields,
): Promise<boolean> {
  return (await unlessTaken(() => records.insert(record).then(() => true))) ?? false
}

/**
 * Deletes the records that expired first, before `at`, in epoch milliseconds: at most `most` of them. They are read by their
 * index, and deleted together: alone, each would wait for the disk.
 */
export async function sweep(
  records: Pick<Collection, 'find' | 'delete'>,
  at: number,
  most: number,
): Promise<void> {
  const filter = { op: 'lt', field: 'expiresAt', value: new Date(at) } as const
  const sort = [{ field: 'expiresAt', descending: false }]
  const found = await records.find({ filter, sort, limit: most, select: { include: ['_id'] } })
  // One may have been made anew meanwhile.
  await Promise.all(found.map(({ _id }) => records.delete(all([withId(String(_id)), filter]))))
}
