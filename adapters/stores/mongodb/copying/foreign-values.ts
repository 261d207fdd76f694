/**
 * BSON values that records don't have, and what `find` returns instead.
 *
 * @module
 */

import type { Collection } from 'mongodb'
import type { ForeignBatch, ForeignValue, UnmatchedValue } from '../../../../src/ports/copying.ts'
import {
  type IdType,
  type ObjectShape,
  type Shape,
  shapeInside,
} from '../../../../src/ports/shape.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import type { Run } from '../connection/connection.ts'
import { otherThan, type Place, typeOf, writtenAs } from './bson-types.ts'
import { documentOf, idOf, storedBatches } from './exact.ts'

/** Looks at every document of `native`. */
export async function* foreignValues(
  native: Collection,
  schema: CollectionSchema,
  run: Run,
): AsyncGenerator<ForeignBatch> {
  for await (const batch of storedBatches(native, run)) {
    const found = batch.flatMap((record) => foreignIn(record, schema))
    yield {
      read: batch.length,
      values: found.filter((value) => 'becomes' in value),
      unmatched: found.filter((value) => 'wanted' in value),
    }
  }
}

function foreignIn(
  record: Uint8Array,
  { shape, idType }: CollectionSchema,
): (ForeignValue | UnmatchedValue)[] {
  const { _id, ...fields } = documentOf(record)
  const found = [...membersIn(fields, '', shape)]
  const type = typeOf(_id)
  if (!idTypesOf(shape, idType).includes(type)) {
    found.push({ field: '_id', type, becomes: 'nothing: the record is left out' })
  }
  return found.length === 0 ? [] : found.map((value) => ({ id: idOf(record), ...value }))
}

/** The types of BSON that an id is stored as. */
function idTypesOf({ fields }: ObjectShape, idType: IdType): readonly string[] {
  const id = fields.get('_id')
  if (id?.kind === 'id' && id.stored) return ['UUID']
  if (idType === 'integer') return ['Int32', 'Long', 'Double']
  return [idType === 'objectId' ? 'ObjectId' : 'String']
}

type Found = Omit<ForeignValue, 'id'> | Omit<UnmatchedValue, 'id'>

function* valuesIn(value: unknown, field: string, place: Place): Generator<Found> {
  const type = typeOf(value)
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) {
      yield* valuesIn(element, field, { ...place, shape: shapeInside(place.shape, at, element) })
    }
  } else if (type === 'Object') {
    yield* membersIn(value as object, field, place.shape)
  } else {
    const becomes = otherThan(type, value, place)
    const isDate = type === 'String' && becomes !== undefined
    if (becomes !== undefined) yield { field, type, becomes, ...(isDate && { onlyCopied: true }) }
    const wanted = writtenAs(type, place)
    if (wanted !== undefined) yield { field, type, wanted }
  }
}

function* membersIn(value: object, field: string, shape: Shape | undefined): Generator<Found> {
  for (const [key, member] of Object.entries(value)) {
    const name = shape?.kind === 'map' ? '*' : key
    const path = field === '' ? name : `${field}.${name}`
    yield* valuesIn(member, path, { key, shape: shapeInside(shape, key, member) })
  }
}
