/**
 * Extra routes with a description: the URL's parameters are checked before the handler, and its response after it.
 *
 * @module
 */

import type { $ZodObject, $ZodType } from 'zod/v4/core'
import { isJson } from '../../http/body.ts'
import type { Query } from '../../http/query-string.ts'
import { invalidFields } from '../../http/refusals.ts'
import { setQuery } from '../../http/shield.ts'
import { objectShape } from '../../model/shape.ts'
import { validateValue } from '../../model/validate.ts'
import { messagesOf } from '../../ports/messages.ts'
import type { Route, RouteDescription } from '../engine/route.ts'

/** `route`, checked by the schemas of `about`. Throws a `TypeError` for a type that JSON cannot carry. */
export function withDescription(route: Route, about: RouteDescription): Route {
  const parse = about.query && queryParser(about.query)
  const check = about.response && responseCheck(about.response)
  return {
    ...route,
    about,
    async handler(request, context) {
      if (parse) setQuery(request, await parse(request.query))
      const response = await route.handler(request, context)
      if (response?.ok && isJson(response.headers.get('content-type'))) await check?.(response)
      return response
    },
  }
}

/** A parameter of a list that is sent once is a list of one. */
function queryParser(schema: $ZodObject): (query: Query) => Promise<Query> {
  const { fields } = objectShape(schema._zod.def.shape, 'input')
  return async (query) => {
    const given: Record<string, unknown> = { ...query }
    for (const [name, value] of Object.entries(query)) {
      if (fields.get(name)?.kind === 'list') given[name] = [value].flat()
    }
    const result = await validateValue(schema, given)
    if (!result.success) throw invalidFields(messagesOf(result.issues))
    return result.data as Query
  }
}

function responseCheck(schema: $ZodType): (response: Response) => Promise<void> {
  return async (response) => {
    const result = await validateValue(schema, await response.clone().json())
    if (result.success) return
    const messages = JSON.stringify(messagesOf(result.issues))
    throw new TypeError(`the response does not fit its description: ${messages}`)
  }
}
