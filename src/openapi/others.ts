/**
 * Routes that are neither a resource's nor the authentication API's: extra routes, and what other modules mount.
 *
 * @module
 */

import { invalidFields } from '../http/refusals.ts'
import type { Route } from '../records/engine/route.ts'
import type { Described } from './described.ts'
import type { Schemas } from './named-schemas.ts'
import { capitalised } from './names.ts'
import { bare, success } from './responses.ts'
import { converted, type ObjectSchema } from './schemas.ts'
import type { Operation, Parameter, Schema } from './specification.ts'

const WITH_BODY = ['POST', 'PUT', 'PATCH', 'QUERY']

/** The operation of any other route, as far as it is described. */
export function otherOperation(mount: string, route: Route, schemas: Schemas): Described {
  const { about = {}, method, path } = route
  const id = `${method.toLowerCase()}${capitalised(`${mount}${path}`) || 'Root'}`
  const name = capitalised(id.replace(/^./, (first) => first.toUpperCase()))
  const parameters = about.query ? queryParameters(about.query) : []
  return {
    id,
    summary: about.summary ?? `${method} ${mount}${path}`,
    parameters,
    ...(route.body
      ? jsonBody(schemas.add(`${name}Body`, converted(route.body, 'input')))
      : unknownBody(method)),
    successes: about.response
      ? {
          '2XX': success(
            'The response of the handler.',
            schemas.add(`${name}Response`, converted(about.response, 'input')),
          ),
        }
      : { '2XX': bare('The response of the handler.') },
    refusals: about.query ? [invalidFields({})] : [],
    isOpen: true,
  }
}

/** Nothing is known of the body that a handler reads. */
function unknownBody(method: string): Pick<Operation, 'requestBody'> {
  return WITH_BODY.includes(method) ? jsonBody({}) : {}
}

function jsonBody(schema: Schema): Pick<Operation, 'requestBody'> {
  return { requestBody: { content: { 'application/json': { schema } } } }
}

function queryParameters(query: NonNullable<NonNullable<Route['about']>['query']>): Parameter[] {
  const { schema } = converted(query, 'input')
  const { properties = {}, required = [] } = schema as ObjectSchema
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    ...(typeof description === 'string' && { description }),
    schema: orOne(property),
  }))
}

/** A list that is sent once is one value, which is how clients may write it. */
function orOne(schema: Schema): Schema {
  const {
    type,
    items,
    minItems = 0,
  } = schema as Schema & {
    readonly items?: Schema
    readonly minItems?: number
  }
  return type === 'array' && items && minItems <= 1 ? { anyOf: [items, schema] } : schema
}
