/** Routes that are neither a resource's nor the authentication API's: extra routes, and what other modules mount. */

import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import { invalidFields, invalidJson, unsupportedBody } from '../../http/errors/refusals.ts'
import { mayBeLeftOut } from '../../model/values/null.ts'
import type { Route } from '../../records/engine/route.ts'
import type { Operation, Parameter, ResponseObject, Schema } from '../specification.ts'
import { capitalised, type Schemas } from './named-schemas.ts'
import { bare, bodyRefusals, type Described, envelope, jsonBody, success } from './responses.ts'
import { converted, type ObjectSchema } from './schemas.ts'

const WITH_BODY = ['POST', 'PUT', 'PATCH', 'QUERY']

export function otherOperation(mount: string, route: Route, schemas: Schemas): Described {
  const { about = {}, failures, method, path } = route
  const id = `${method.toLowerCase()}${capitalised(`${mount}${path}`) || 'Root'}`
  const name = capitalised(id)
  const body = about.body ?? route.body
  const own = failures ? [...bodyRefusals(failures.limits), ...failures.refusals()] : []
  return {
    id,
    summary: about.summary ?? `${method} ${mount}${path}`,
    parameters: about.query ? queryParameters(about.query) : [],
    ...(about.params && { path: propertiesOf(about.params) }),
    ...(body
      ? jsonBody(
          schemas.add(`${name}Body`, converted(body, 'input')),
          body === about.body && !mayBeLeftOut(body),
        )
      : anyBody(method)),
    successes: { '2XX': answered(route, `${name}Response`, schemas) },
    refusals: [
      ...(about.params || about.query || about.body ? [invalidFields({})] : []),
      ...(about.body ? [invalidJson(), unsupportedBody('application/json')] : []),
      ...own,
    ],
    ...(failures && { failure: { schema: schemas.own(failures.name, failures.schema), of: own } }),
    isOpen: true,
  }
}

/** What a handler returns: a whole response if that is what is described, else the data of one. */
function answered({ about, headers }: Route, name: string, schemas: Schemas): ResponseObject {
  const text = 'The response of the handler.'
  const described = about?.response
  if (!described) return bare(text, headers)
  const { def } = (described as $ZodTypes)._zod
  const isWhole = def.type === 'object' && 'success' in def.shape
  const schema = schemas.add(name, converted(described, isWhole ? 'input' : 'output'))
  return success(text, isWhole ? schema : envelope(schema), headers)
}

/** Nothing is known of the body that a handler reads. */
function anyBody(method: string): Pick<Operation, 'requestBody'> {
  return WITH_BODY.includes(method) ? jsonBody({}) : {}
}

export function queryParameters(query: $ZodType): Parameter[] {
  const { properties = {}, required = [] } = converted(query, 'input').schema as ObjectSchema
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    ...(typeof description === 'string' && { description }),
    schema: orOne(property),
  }))
}

function propertiesOf(params: $ZodType): Readonly<Record<string, Schema>> {
  return (converted(params, 'input').schema as ObjectSchema).properties ?? {}
}

/** A list that is sent once is one value, which is how clients may write it. */
function orOne(schema: Schema): Schema {
  const { type, items, minItems } = schema
  return type === 'array' && items && Number(minItems ?? 0) <= 1
    ? { anyOf: [items, schema] }
    : schema
}
