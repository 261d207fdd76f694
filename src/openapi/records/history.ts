import * as refuse from '../../http/errors/refusals.ts'
import type { Resource } from '../../records/setup/resource.ts'
import { changeRefusals, writeRefusals } from '../schemas/bodies.ts'
import type { Schemas } from '../schemas/named-schemas.ts'
import { bodyRefusals, type Described, jsonBody, success } from '../schemas/responses.ts'
import { DATE, object, TEXT } from '../schemas/schemas.ts'
import {
  IF_NONE_MATCH,
  PAGINATION,
  pageOf,
  readSuccesses,
  storedOne,
  updatedOne,
} from '../schemas/shown.ts'
import type { Schema } from '../specification.ts'
import { parameter } from './choice-parameters.ts'

const ID: Schema = { type: 'string', description: 'The position of the change in the log.' }

const CHANGE = object({
  id: ID,
  at: DATE,
  by: {
    type: ['string', 'null'],
    description:
      "Who did it: a user's id, `key:<id>` for an API key, null if nobody was signed in.",
  },
  kind: { type: 'string', enum: ['created', 'updated', 'removed'] },
  changes: {
    type: 'object',
    description: 'The fields that changed, as far as you may see them.',
    additionalProperties: object({ from: {}, to: {} }),
  },
})

export function historyOperation(resource: Resource, schemas: Schemas): Described {
  const { model, maxLimit, defaultPageSize } = resource
  const items = schemas.own('RecordChange', CHANGE)
  const pages = schemas.own('CursorPagination', PAGINATION.Cursor)
  const list = schemas.own(`${model.name}History`, pageOf(items, pages))
  const size = { type: 'integer', minimum: 1, maximum: maxLimit, default: defaultPageSize }
  return {
    id: `readHistoryOf${model.name}`,
    summary: `What happened to one ${model.name}, the latest first`,
    parameters: [
      parameter('cursor', 'The `nextCursor` of the page before.', TEXT),
      parameter('pageSize', 'The most changes of a page.', size),
      IF_NONE_MATCH,
    ],
    successes: readSuccesses(list),
    refusals: [refuse.invalidCursor(), refuse.responseTooLarge()],
  }
}

export function restoreOperation(resource: Resource, schemas: Schemas): Described {
  const { model, validate, hooks, host } = resource
  return {
    id: `restore${model.name}`,
    summary: `Makes a ${model.name} what it was after a change`,
    description: 'A record that was removed is created again, with its id.',
    ...jsonBody(object({ changeId: ID }), true),
    successes: {
      200: success('The record.', updatedOne(resource, schemas), ['Change-Id']),
      201: success('The record is there again.', storedOne(resource, schemas), [
        'Location',
        'Change-Id',
      ]),
    },
    refusals: [
      refuse.notAChange(),
      ...bodyRefusals(host),
      ...writeRefusals({ ...resource, upload: undefined }, resource.writable.update),
      ...changeRefusals(resource),
    ],
    isOpen: (validate.create ?? validate.update ?? hooks.beforeUpdate) !== undefined,
  }
}
