/** The operations of a resource. */

import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import { enforcedReferences } from '../../model/enforced-references.ts'
import { plural } from '../../model/plural.ts'
import { MAX_DEPENDENTS } from '../../records/engine/removal.ts'
import type { Resource } from '../../records/setup/resource.ts'
import type { Serving } from '../../records/setup/serving.ts'
import { bodyOf, levelParameters, writeRefusals } from '../schemas/bodies.ts'
import { refTo, type Schemas } from '../schemas/named-schemas.ts'
import type { Described } from '../schemas/responses.ts'
import { bare, bodyRefusals, type HeaderName, success } from '../schemas/responses.ts'
import { idSchema } from '../schemas/schemas.ts'
import { listSchema, readOne, storedOne, updatedOne } from '../schemas/shown.ts'
import type { Parameter, Responses, Schema } from '../specification.ts'
import { groupsSchema } from './aggregates.ts'
import { choiceParameters } from './choice-parameters.ts'
import { historyOperation, restoreOperation } from './history.ts'
import { queryBody, urlParameters } from './list-parameters.ts'

/** Records in the example of a QUERY. */
const EXAMPLE_SIZE = 10

/** The operation that `served` names; the schemas that it needs are added. */
export function recordOperation(served: Serving, schemas: Schemas): Described {
  return OPERATIONS[served.operation](served.resource, schemas)
}

type Describe = (resource: Resource, schemas: Schemas) => Described

const OPERATIONS: Readonly<Record<Serving['operation'], Describe>> = {
  list(resource, schemas) {
    const { model } = resource
    const { parameters, refusals } = urlParameters(resource)
    return {
      id: `list${plural(model.name)}`,
      summary: `Lists ${plural(model.name)}`,
      parameters: [...parameters, IF_NONE_MATCH],
      successes: fileSuccesses(resource, listSchema(resource, schemas)),
      refusals: [...refusals, ...exportRefusals(resource), refuse.responseTooLarge()],
      isOpen: false,
    }
  },
  query(resource, schemas) {
    const { model } = resource
    const { schema, refusals } = queryBody(resource)
    const body = schemas.own(`${model.name}Query`, schema)
    // Made from the schema, it would have a value for every filter, and find nothing.
    const example = { pageSize: Math.min(EXAMPLE_SIZE, resource.maxLimit) }
    return {
      id: `query${plural(model.name)}`,
      summary: `Lists ${plural(model.name)} by a body (RFC 10008)`,
      parameters: [IF_NONE_MATCH],
      requestBody: { content: { 'application/json': { schema: body, example } } },
      successes: fileSuccesses(resource, queried(resource, schemas)),
      refusals: [
        ...withoutMediaType(bodyRefusals(resource.host)),
        ...refusals,
        ...exportRefusals(resource),
        refuse.responseTooLarge(),
      ],
      isOpen: false,
    }
  },
  read(resource, schemas) {
    const { model } = resource
    const choice = choiceParameters(resource)
    return {
      id: `read${model.name}`,
      summary: `Reads one ${model.name}`,
      path: idPath(resource),
      parameters: [...choice.parameters, IF_NONE_MATCH],
      successes: readSuccesses(resource, readOne(resource, schemas)),
      refusals: [
        refuse.invalidId(),
        ...choice.refusals,
        refuse.entryNotFound(),
        refuse.responseTooLarge(),
      ],
      isOpen: false,
    }
  },
  create(resource, schemas) {
    const { model, validate } = resource
    return {
      id: `create${model.name}`,
      summary: `Creates a ${model.name}`,
      parameters: levelParameters(resource),
      requestBody: { required: true, content: bodyOf(resource, 'create', schemas) },
      successes: {
        201: success('The new record.', storedOne(resource, schemas), [
          'Location',
          ...changeId(model),
        ]),
      },
      refusals: writeRefusals(resource, resource.writable.create),
      isOpen: validate.create !== undefined,
    }
  },
  update(resource, schemas) {
    const { model, validate, hooks } = resource
    return {
      id: `update${model.name}`,
      summary: `Changes fields of a ${model.name}`,
      description: 'Fields that are not named stay. Null removes an optional field.',
      path: idPath(resource),
      parameters: [IF_MATCH, ...levelParameters(resource)],
      requestBody: { required: true, content: bodyOf(resource, 'update', schemas) },
      successes: {
        200: success('The record.', updatedOne(resource, schemas), changeId(model)),
      },
      refusals: [
        refuse.invalidId(),
        ...writeRefusals(resource, resource.writable.update),
        refuse.entryNotFound(),
        refuse.recordChanged(),
        refuse.excludedVersion(),
        ...(model.transitions ?? []).map(({ field }) =>
          refuse.forbiddenTransition(field, "'<value>'", "'<value>'"),
        ),
        ...(hooks.beforeUpdate || hooks.afterUpdate ? [refuse.changedMeanwhile()] : []),
      ],
      isOpen: validate.update !== undefined || hooks.beforeUpdate !== undefined,
    }
  },
  delete(resource) {
    const { model, host, hooks } = resource
    const referring = [...host.known()].filter((other) =>
      enforcedReferences(other).some(({ target }) => target === model.name),
    )
    return {
      id: `delete${model.name}`,
      summary: `Deletes a ${model.name}`,
      path: idPath(resource),
      parameters: [IF_MATCH],
      successes: { 200: success('It is deleted.', refTo('Message'), changeId(model)) },
      refusals: [
        refuse.invalidId(),
        refuse.entryNotFound(),
        refuse.recordChanged(),
        refuse.excludedVersion(),
        ...referring.map(({ name }) => refuse.stillReferenced(name)),
        ...(referring.length > 0 ? [refuse.tooManyDependents(MAX_DEPENDENTS)] : []),
        ...(hooks.beforeRemove ? [refuse.changedMeanwhile()] : []),
      ],
      isOpen: hooks.beforeRemove !== undefined,
    }
  },
  history: historyOperation,
  restore: restoreOperation,
}

/** The header of writes that are logged. */
function changeId({ changes }: Resource['model']): readonly HeaderName[] {
  return changes ? ['Change-Id'] : []
}

/** The response of a QUERY: records, or groups of them. */
function queried(resource: Resource, schemas: Schemas): Schema {
  return {
    anyOf: [
      listSchema(resource, schemas),
      schemas.own(`${resource.model.name}Groups`, groupsSchema(resource)),
    ],
  }
}

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'ETags of the bodies that you have: if one is current, the response is a 304.',
  schema: { type: 'string' },
}

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'The ETag of the record that you have read: if it has changed since, the response is a 412.',
  schema: { type: 'string' },
}

function idPath({ model }: Resource): Readonly<Record<string, Schema>> {
  return { id: idSchema(model.idType) }
}

function readSuccesses({ cache }: Resource, schema: Schema): Responses {
  const headers: HeaderName[] = ['ETag', 'Cache-Control', 'Vary']
  return {
    200: success('Found.', schema, cache ? [...headers, 'X-Cache'] : headers),
    304: bare('You have the current body.', headers),
  }
}

/** The lists of a router: as JSON, and as files if it has these. */
function fileSuccesses(resource: Resource, schema: Schema): Responses {
  const successes = readSuccesses(resource, schema)
  const found = successes[200]
  if (!found || !('content' in found)) return successes
  const text = { schema: { type: 'string' } } as const
  const files = { 'application/x-ndjson': text, 'text/csv': text }
  const content = {
    ...found.content,
    ...(resource.exportLimit > 0 && files),
    ...(resource.live && { 'text/event-stream': text }),
  }
  return { ...successes, 200: { ...found, content } }
}

/** What a list refuses that is asked for as a file, or as a stream of events. */
function exportRefusals({ exportLimit, live }: Resource): readonly HttpError[] {
  return [
    ...(exportLimit === 0
      ? [refuse.notExported()]
      : [refuse.exportHasNoPages(), refuse.exportTooLarge(exportLimit)]),
    ...(live
      ? [refuse.liveHasNoPages(), refuse.liveHasNoSelect(), refuse.tooManyStreams()]
      : [refuse.notLive()]),
  ]
}

/** A QUERY has a message of its own for another media type. */
function withoutMediaType(refusals: readonly HttpError[]): readonly HttpError[] {
  return refusals.filter(({ status, message }) => status !== 415 || message.includes('Encoding'))
}
