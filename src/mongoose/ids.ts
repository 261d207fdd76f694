/**
 * The ids of documents.
 *
 * @module
 */

import type { Model } from '../model/model.ts'
import type { IdType, ObjectShape, Shape } from '../ports/shape.ts'
import type { Report } from './report.ts'
import type { SchemaParts } from './structure.ts'

const TYPES: Readonly<Record<string, IdType>> = {
  ObjectId: 'objectId',
  ObjectID: 'objectId',
  String: 'text',
  Number: 'integer',
  UUID: 'uuid',
}

const NOTES: Readonly<Record<string, string>> = {
  String: 'a new record gets an id of 24 hexadecimal digits',
  Number:
    'ids are strings of digits in JSON; a new record gets the greatest id and 1, and if two processes make the same, one gets a 409',
}

/** The format of the ids of `schema`. Throws a `TypeError` for a type that no model has. */
export function idTypeOf({ paths }: SchemaParts, report: Report): IdType {
  const instance = paths._id?.instance ?? 'ObjectId'
  const idType = TYPES[instance]
  if (!idType) throw new TypeError(`fromMongoose: ids of the type ${instance} are not supported`)
  const note = NOTES[instance]
  if (note !== undefined) report.add('_id', `type ${instance}`, note)
  return idType
}

/** The shape of a record whose ids are stored as Mongoose stores them: a UUID as one, and not as its string. */
export function withStoredIds({ idType, shape }: Pick<Model, 'idType' | 'shape'>): ObjectShape {
  if (idType !== 'uuid') return shape
  return {
    ...shape,
    fields: new Map<string, Shape>([
      ...shape.fields,
      ['_id', { kind: 'id', idType, stored: 'uuid' }],
    ]),
  }
}
