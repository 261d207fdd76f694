/**
 * What a document must hold to be written.
 *
 * @module
 */

import {
  BSON,
  type ClientSession,
  type Document,
  type Collection as Native,
  type Filter as Query,
} from 'mongodb'
import type { ObjectShape } from '../../../../src/ports/shape.ts'
import type { Fields } from '../../../../src/ports/store.ts'
import { expecting } from '../../expecting.ts'
import { encode, fromDocument } from '../documents/documents.ts'
import { isStill } from '../search/grams.ts'

/** Where to find the document that a write is about. */
interface Matching {
  readonly in: Native
  readonly query: Query<Document>
  readonly shape: ObjectShape
  readonly session: ClientSession | undefined
}

/** Runs `write` for the document that matches, if it holds what is expected; see `expecting`. */
export function writeExpecting(
  { in: native, query, shape, session }: Matching,
  expect: Readonly<Fields> | undefined,
  write: (query: Query<Document>) => Promise<Document | null>,
): Promise<Document | null> {
  return expecting<Document[], Document>(expect, {
    asWritten: (values) =>
      Object.entries(values).map(([field, value]) =>
        isStill(field, encode(value, shape.fields.get(field))),
      ),

    async find(fields) {
      const options = { raw: true, ...(session && { session }) }
      const bytes = (await native.findOne(query, options)) as Uint8Array | null
      if (!bytes) return undefined
      const held = () => {
        // Otherwise numbers become JavaScript's own, which are rounded.
        const stored = BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true })
        return fields.map((field) => isStill(field, stored[field]))
      }
      return { record: fromDocument(BSON.deserialize(bytes), shape), held }
    },

    // Not the query language's equality, which would match a value inside a list, and match null if the field is missing.
    write: (held) =>
      write(held.length === 0 ? query : { $and: [query, { $expr: { $and: held } }] }),
  })
}
