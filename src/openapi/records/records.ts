import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import { plural } from '../../model/plural.ts'
import { MAX_DEPENDENTS } from '../../records/engine/removal.ts'
import { MOST_FOLLOWED } from '../../records/list/parse.ts'
import type { Resource } from '../../records/setup/resource.ts'
import type { Serving } from '../../records/setup/serving.ts'
import {
  bodyOf,
  changeRefusals,
  levelParameters,
  referringRefusals,
  writeRefusals,
} from '../schemas/bodies.ts'
import { refTo, type Schemas } from '../schemas/named-schemas.ts'
import { bodyRefusals, type Described, success } from '../schemas/responses.ts'
import { ID_SCHEMAS, TEXT } from '../schemas/schemas.ts'
import {
  IF_NONE_MATCH,
  listSchema,
  readOne,
  readSuccesses,
  storedOne,
  updatedOne,
} from '../schemas/shown.ts'
import type { Content, Parameter } from '../specification.ts'
import { groupsSchema } from './aggregates.ts'
import { choiceParameters } from './choice-parameters.ts'
import { historyOperation, restoreOperation } from './history.ts'
import { queryBody, urlParameters } from './list-parameters.ts'

const EXAMPLE_SIZE = 10

/** What a request for one record is refused for, whatever it does. */
export const ID_REFUSALS: readonly HttpError[] = [refuse.invalidId(), refuse.entryNotFound()]

const OF_NO_ID: readonly Serving['operation'][] = ['list', 'query', 'create']

/** The operation that `served` names; the schemas that it needs are added. */
export function recordOperation({ operation, resource }: Serving, schemas: Schemas): Described {
  const described = OPERATIONS[operation](resource, schemas)
  const { model, scope, fieldsFor } = resource
  // Each of these may refuse.
  const own = scope.write ?? (operation === 'delete' ? undefined : (scope.read ?? fieldsFor))
  return {
    ...described,
    path: { id: ID_SCHEMAS[model.idType] },
    refusals: [...(OF_NO_ID.includes(operation) ? [] : ID_REFUSALS), ...described.refusals],
    isOpen: described.isOpen || own !== undefined,
  }
}

const OPERATIONS: Readonly<
  Record<Serving['operation'], (resource: Resource, schemas: Schemas) => Described>
> = {
  list(resource, schemas) {
    const { model } = resource
    const { parameters, refusals } = urlParameters(resource)
    return {
      id: `list${plural(model.name)}`,
      summary: `Lists ${plural(model.name)}`,
      parameters: [...parameters, IF_NONE_MATCH],
      successes: readSuccesses(listSchema(resource, schemas), xCache(resource), filesOf(resource)),
      refusals: [...refusals, ...exportRefusals(resource), refuse.responseTooLarge()],
    }
  },
  query(resource, schemas) {
    const { model } = resource
    const { schema, refusals } = queryBody(resource)
    const body = schemas.own(`${model.name}Query`, schema)
    const list = listSchema(resource, schemas)
    const groups = schemas.own(`${model.name}Groups`, groupsSchema(resource))
    // Made from the schema, it would have a value for every filter, and find nothing.
    const example = { pageSize: Math.min(EXAMPLE_SIZE, resource.maxLimit) }
    return {
      id: `query${plural(model.name)}`,
      summary: `Lists ${plural(model.name)} by a body (RFC 10008)`,
      parameters: [IF_NONE_MATCH],
      requestBody: { content: { 'application/json': { schema: body, example } } },
      successes: readSuccesses({ anyOf: [list, groups] }, xCache(resource), filesOf(resource)),
      refusals: [
        // It has a message of its own for another media type.
        ...bodyRefusals(resource.host, null),
        ...(resource.live ? [refuse.bodyTooLarge(MOST_FOLLOWED)] : []),
        ...refusals,
        ...exportRefusals(resource),
        refuse.responseTooLarge(),
      ],
    }
  },
  read(resource, schemas) {
    const { model } = resource
    const choice = choiceParameters(resource)
    return {
      id: `read${model.name}`,
      summary: `Reads one ${model.name}`,
      parameters: [...choice.parameters, IF_NONE_MATCH],
      successes: readSuccesses(readOne(resource, schemas), xCache(resource)),
      refusals: [...choice.refusals, refuse.responseTooLarge()],
    }
  },
  create(resource, schemas) {
    const { model, validate } = resource
    const headers = ['Location', ...changeId(model)]
    return {
      id: `create${model.name}`,
      summary: `Creates a ${model.name}`,
      parameters: levelParameters(resource),
      requestBody: { required: true, content: bodyOf(resource, 'create', schemas) },
      successes: { 201: success('The new record.', storedOne(resource, schemas), headers) },
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
      parameters: [IF_MATCH, ...levelParameters(resource)],
      requestBody: { required: true, content: bodyOf(resource, 'update', schemas) },
      successes: { 200: success('The record.', updatedOne(resource, schemas), changeId(model)) },
      refusals: [
        ...writeRefusals(resource, resource.writable.update),
        refuse.recordChanged(),
        refuse.excludedVersion(),
        ...changeRefusals(resource),
      ],
      isOpen: validate.update !== undefined || hooks.beforeUpdate !== undefined,
    }
  },
  delete(resource) {
    const { model, host, hooks } = resource
    const referring = referringRefusals(host, model)
    return {
      id: `delete${model.name}`,
      summary: `Deletes a ${model.name}`,
      parameters: [IF_MATCH],
      successes: { 200: success('It is deleted.', refTo('Message'), changeId(model)) },
      refusals: [
        refuse.recordChanged(),
        refuse.excludedVersion(),
        ...referring,
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
function changeId({ changes }: Resource['model']): readonly string[] {
  return changes ? ['Change-Id'] : []
}

/** The header of reads that are kept. */
function xCache({ cache }: Resource): readonly string[] {
  return cache ? ['X-Cache'] : []
}

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'The ETag of the record that you have read: if it has changed since, the response is a 412.',
  schema: TEXT,
}

/** What the lists of a router are besides JSON: files, and streams of events. */
function filesOf({ exportLimit, live }: Resource): Content {
  const text = { schema: TEXT }
  return {
    ...(exportLimit > 0 && { 'application/x-ndjson': text, 'text/csv': text }),
    ...(live && { 'text/event-stream': text }),
  }
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
