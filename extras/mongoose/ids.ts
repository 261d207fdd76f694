/** The ids of documents. */

import type { Model } from '../../src/model/model.ts'
import type { IdType, ObjectShape, Shape } from '../../src/ports/store/shape.ts'
import { functionsOf } from './left-out.ts'
import type { Report } from './report.ts'
import type { SchemaParts, SchemaType } from './structure.ts'

const TYPES: Readonly<Record<string, IdType>> = {
  ObjectId: 'objectId',
  ObjectID: 'objectId',
  String: 'text',
  Number: 'integer',
  UUID: 'uuid',
}

/** What new records get. */
const NEW: Readonly<Record<IdType, string>> = {
  objectId: 'a new record gets a new ObjectId',
  uuid: 'a new record gets a random UUID',
  text: 'a new record gets an id of 24 hexadecimal digits',
  integer:
    'ids are strings of digits in JSON; a new record gets the greatest id and 1, and if two processes make the same, one gets a 409',
}

const OWN =
  "and the schema's default and rules for ids do not apply. Make ids of your own by the router's scope: { read: () => undefined, write: ({ method }) => (method === 'POST' ? { _id: newId() } : undefined) }. If clients choose them, create records in an extra route"

/** The format of the ids of `schema`. Throws a `TypeError` for a type that no model has. */
export function idTypeOf({ paths }: SchemaParts, report: Report): IdType {
  const type = paths._id
  const isNested = Object.keys(paths).some((path) => path.startsWith('_id.'))
  const instance = isNested ? 'Object' : (type?.instance ?? 'ObjectId')
  const idType = TYPES[instance]
  if (!idType) throw new TypeError(`fromMongoose: ids of the type ${instance} are not supported`)
  const isOwn = type !== undefined && makesOwn(type, idType)
  const note = `${NEW[idType]}${isOwn ? `, ${OWN}` : ''}`
  if (isOwn || idType === 'integer') report.add('_id', `type ${instance}`, note, isOwn)
  return idType
}

/** Whether ids are made by the program that writes a document, or are not any of their type. */
function makesOwn(type: SchemaType, idType: IdType): boolean {
  const { options, validators, defaultValue } = type
  const isRuled =
    validators.some((rule) => rule.type !== 'required') || functionsOf(type).length > 0
  const isMade = idType === 'integer' && typeof defaultValue === 'function'
  return idType === 'text' || isRuled || isMade || options.ref !== undefined
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
