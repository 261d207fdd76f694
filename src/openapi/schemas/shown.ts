/** What responses show: records, lists and their pages. */

import type { Resource } from '../../records/setup/resource.ts'
import type { Content, Parameter, Responses, Schema } from '../specification.ts'
import type { Schemas } from './named-schemas.ts'
import { bare, envelope, success } from './responses.ts'
import { ID_SCHEMAS, object, recordSchema, TEXT } from './schemas.ts'

/** A model's `output` may make anything of a record, so nothing is known of it. */
function isUnknown({ model, lean }: Resource): boolean {
  return model.output !== undefined && !lean
}

/** A record as reads show it: `fieldsFor` and `onGet` may leave fields out, `onGet` and `expand` may fill references in. */
function readRecord(resource: Resource, schemas: Schemas): Schema {
  const { model, onGet, fieldsFor, expandable } = resource
  if (isUnknown(resource)) return {}
  const isLess = onGet !== undefined || fieldsFor !== undefined
  if (!isLess && expandable.size === 0) return schemas.add(model.name, recordSchema(model))
  const filledIn = onGet !== undefined || expandable.size > 0
  const { schema, defs } = recordSchema(model, { filledIn })
  const view = { schema: isLess ? { ...schema, required: ['_id'] } : schema, defs }
  return schemas.add(`${model.name}View`, view)
}

/** The response of a create: the record as it was stored, whole unless its readers differ. */
export function storedOne(resource: Resource, schemas: Schemas): Schema {
  const { model, fieldsFor } = resource
  if (fieldsFor) return updatedOne(resource, schemas)
  const data = isUnknown(resource) ? {} : schemas.add(model.name, recordSchema(model))
  return written(resource, data, schemas)
}

export function readOne(resource: Resource, schemas: Schemas): Schema {
  const data = readRecord(resource, schemas)
  return schemas.own(`${nameOf(data, resource)}Response`, envelope(data))
}

export function updatedOne(resource: Resource, schemas: Schemas): Schema {
  return written(resource, readRecord(resource, schemas), schemas)
}

/** The response of a write: the record, or its id if the scope of reads may exclude it. */
function written(resource: Resource, data: Schema, schemas: Schemas): Schema {
  const { scope, model } = resource
  const name = nameOf(data, resource)
  if (scope.read === scope.write) return schemas.own(`${name}Response`, envelope(data))
  const either = { anyOf: [data, object({ _id: ID_SCHEMAS[model.idType] })] }
  return schemas.own(`${name}WriteResponse`, envelope(either))
}

export function listSchema(resource: Resource, schemas: Schemas): Schema {
  const { pagination, countStrategy } = resource
  const record = readRecord(resource, schemas)
  const isCursor = pagination === 'cursor'
  const kind = isCursor ? 'Cursor' : countStrategy === 'none' ? 'Uncounted' : 'Counted'
  const page = schemas.own(`${kind}Pagination`, PAGINATION[kind])
  // Without a page parameter, a list by numbers has no pages.
  const list = pageOf(record, page, isCursor)
  return schemas.own(`${nameOf(record, resource)}List`, list)
}

const NATURAL: Schema = { type: 'integer', minimum: 1 }
const COUNT: Schema = { type: 'integer', minimum: 0 }
const MORE: Schema = { type: 'boolean', description: 'Whether another page follows.' }

export const PAGINATION: Readonly<Record<'Counted' | 'Uncounted' | 'Cursor', Schema>> = {
  Counted: object({
    currentPage: NATURAL,
    pageSize: NATURAL,
    totalPages: COUNT,
    totalRecords: COUNT,
  }),
  Uncounted: object({ currentPage: NATURAL, pageSize: NATURAL, hasMore: MORE }),
  Cursor: object({
    pageSize: NATURAL,
    hasMore: MORE,
    nextCursor: {
      anyOf: [TEXT, { type: 'null' }],
      description: 'The `cursor` of the next page; null on the last one.',
    },
  }),
}

/** The response with a list of `items`, and how it is cut, if that is always there. */
export function pageOf(items: Schema, pagination: Schema, isPaged = true): Schema {
  const { properties } = envelope({ type: 'array', items })
  const required = ['success', 'data', ...(isPaged ? ['pagination'] : [])]
  return { ...object({ ...(properties as object), pagination }), required }
}

/** The name of a record's schema; the model's if it has none. */
function nameOf({ $ref }: Schema, { model }: Resource): string {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : model.name
}

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'ETags of the bodies that you have: if one is current, the response is a 304.',
  schema: TEXT,
}

/** What a read responds with; `more` are headers that it has beside. */
export function readSuccesses(
  schema: Schema,
  more: readonly string[] = [],
  files?: Content,
): Responses {
  const headers = ['ETag', 'Cache-Control', 'Vary']
  return {
    200: success('Found.', schema, [...headers, ...more], files),
    304: bare('You have the current body.', headers),
  }
}
