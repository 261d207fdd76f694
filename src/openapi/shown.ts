/** What responses show: records, lists and their pages. */

import type { Resource } from '../records/setup/resource.ts'
import type { Schemas } from './named-schemas.ts'
import { envelope } from './responses.ts'
import { type Converted, idSchema, recordSchema } from './schemas.ts'
import type { Schema } from './specification.ts'

/** A model's `output` may make anything of a record, so nothing is known of it. */
function isUnknown({ model, lean }: Resource): boolean {
  return model.output !== undefined && !lean
}

/** A new record, whole unless its readers differ. */
function storedRecord(resource: Resource, schemas: Schemas, suffix: string): Schema {
  const { model, fieldsFor } = resource
  if (fieldsFor) return readRecord(resource, schemas, suffix)
  return isUnknown(resource) ? {} : schemas.add(model.name, recordSchema(model), suffix)
}

/** A record as reads show it: `fieldsFor` and `onGet` may leave fields out, `onGet` and `expand` may fill references in. */
function readRecord(resource: Resource, schemas: Schemas, suffix: string): Schema {
  const { model, onGet, fieldsFor, expandable } = resource
  if (isUnknown(resource)) return {}
  const isLess = onGet !== undefined || fieldsFor !== undefined
  if (!isLess && expandable.size === 0) return schemas.add(model.name, recordSchema(model), suffix)
  const filledIn = onGet !== undefined || expandable.size > 0
  const { schema, defs } = recordSchema(model, { filledIn })
  const view = { schema: isLess ? { ...schema, required: ['_id'] } : schema, defs }
  return schemas.add(`${model.name}View`, view, suffix)
}

/** The response of a create: the record as it was stored. */
export function storedOne(resource: Resource, schemas: Schemas, suffix: string): Schema {
  const data = storedRecord(resource, schemas, suffix)
  return written(resource, data, schemas, suffix)
}

/** The response with a record as reads show it. */
export function readOne(resource: Resource, schemas: Schemas, suffix: string): Schema {
  const data = readRecord(resource, schemas, suffix)
  return schemas.add(`${nameOf(data, resource)}Response`, plain(envelope(data)), suffix)
}

/** The response of an update: the record as reads show it. */
export function updatedOne(resource: Resource, schemas: Schemas, suffix: string): Schema {
  const data = readRecord(resource, schemas, suffix)
  return written(resource, data, schemas, suffix)
}

/** The response of a write: the record, or its id if the scope of reads may exclude it. */
function written(resource: Resource, data: Schema, schemas: Schemas, suffix: string): Schema {
  const { scope, model } = resource
  const name = nameOf(data, resource)
  if (scope.read === scope.write) {
    return schemas.add(`${name}Response`, plain(envelope(data)), suffix)
  }
  const either = { anyOf: [data, object({ _id: idSchema(model.idType) })] }
  return schemas.add(`${name}WriteResponse`, plain(envelope(either)), suffix)
}

/** The response with a list of records. */
export function listSchema(resource: Resource, schemas: Schemas, suffix: string): Schema {
  const { pagination, countStrategy } = resource
  const record = readRecord(resource, schemas, suffix)
  const isCursor = pagination === 'cursor'
  const kind = isCursor ? 'Cursor' : countStrategy === 'none' ? 'Uncounted' : 'Counted'
  const page = schemas.own(`${kind}Pagination`, PAGINATION[kind])
  const list = {
    type: 'object',
    properties: {
      success: { type: 'boolean', const: true },
      data: { type: 'array', items: record },
      pagination: page,
    },
    // Without a page parameter, a list by numbers has no pages.
    required: ['success', 'data', ...(isCursor ? ['pagination'] : [])],
    additionalProperties: false,
  }
  return schemas.add(`${nameOf(record, resource)}List`, plain(list), suffix)
}

const NATURAL: Schema = { type: 'integer', minimum: 1 }
const COUNT: Schema = { type: 'integer', minimum: 0 }
const MORE: Schema = { type: 'boolean', description: 'Whether another page follows.' }

/** How pages of each kind are told. */
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
      anyOf: [{ type: 'string' }, { type: 'null' }],
      description: 'The `cursor` of the next page; null on the last one.',
    },
  }),
}

/** An object with exactly these members. */
export function object(properties: Readonly<Record<string, Schema>>): Schema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

function plain(schema: Schema): Converted {
  return { schema, defs: {} }
}

/** The name of a record's schema; the model's if it has none. */
function nameOf({ $ref }: Schema, { model }: Resource): string {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : model.name
}
