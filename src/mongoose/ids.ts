/**
 * The ids of documents.
 *
 * @module
 */

import type { IdType } from '../ports/shape.ts'
import type { Report } from './report.ts'
import type { SchemaParts } from './structure.ts'

const TYPES: Readonly<Record<string, IdType>> = {
  ObjectId: 'objectId',
  ObjectID: 'objectId',
  String: 'text',
}

/** The format of the ids of `schema`. Throws a `TypeError` for a type that no model has. */
export function idTypeOf({ paths }: SchemaParts, report: Report): IdType {
  const instance = paths._id?.instance ?? 'ObjectId'
  const idType = TYPES[instance]
  if (!idType) throw new TypeError(`fromMongoose: ids of the type ${instance} are not supported`)
  if (idType === 'text') {
    report.add('_id', 'type String', 'a new record gets an id of 24 hexadecimal digits')
  }
  return idType
}
