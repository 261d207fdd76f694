/**
 * Compare-and-set: writes that happen only if a document still holds what was read of it.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import {
  BSON,
  type ClientSession,
  type Document,
  type Collection as Native,
  type Filter as Query,
} from 'mongodb'
import type { ObjectShape } from '../../../src/ports/shape.ts'
import type { Fields } from '../../../src/ports/store.ts'
import { encode, fromDocument } from './documents.ts'

/** Where to find the document that a write is about. */
interface Matching {
  readonly in: Native
  readonly query: Query<Document>
  readonly shape: ObjectShape
  readonly session: ClientSession | undefined
}

/**
 * Runs `write` with the condition that the document holds exactly these values in its top-level fields; `undefined` means
 * that the field is absent. Resolves to what `write` does: null if no document matches.
 */
export async function expecting(
  matching: Matching,
  expect: Readonly<Fields> = {},
  write: (query: Query<Document>) => Promise<Document | null>,
): Promise<Document | null> {
  const { query, shape } = matching
  if (Object.keys(expect).length === 0) return write(query)
  const asWritten = holding(expect, (field, value) => encode(value, shape.fields.get(field)))
  const written = await write({ $and: [query, asWritten] })
  if (written) return written
  const asStored = await storedAs(expect, matching)
  return asStored && write({ $and: [query, asStored] })
}

/**
 * The condition that a document stays as it is in the fields of `expect`, if its record has these values; null if not. A
 * record doesn't tell every type of BSON: of an ObjectId in a mixed value it has a string.
 */
async function storedAs(
  expect: Readonly<Fields>,
  { in: native, query, shape, session }: Matching,
): Promise<Document | null> {
  const options = { raw: true, ...(session && { session }) }
  const bytes = (await native.findOne(query, options)) as Uint8Array | null
  if (!bytes) return null
  const record = fromDocument(BSON.deserialize(bytes), shape)
  const fields = Object.keys(expect)
  if (!fields.every((field) => isDeepStrictEqual(record[field], expect[field]))) return null
  // Otherwise numbers become JavaScript's own, which are rounded.
  const stored = BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true })
  const values = Object.fromEntries(fields.map((field) => [field, stored[field]]))
  return holding(values, (_field, value) => value)
}

function holding(
  values: Readonly<Fields>,
  asStored: (field: string, value: unknown) => unknown,
): Document {
  const conditions = Object.entries(values).map(([field, value]) =>
    value === undefined
      ? { $eq: [{ $type: `$${field}` }, 'missing'] }
      : { $eq: [`$${field}`, { $literal: asStored(field, value) }] },
  )
  // Not the query language's equality, which would match a value inside a list, and match null if the field is missing.
  return { $expr: { $and: conditions } }
}
