/**
 * What extra routes take and return, as far as they are described.
 *
 * @module
 */

import type { $ZodType } from 'zod/v4/core'
import { objectShape } from '../model/shape.ts'
import type { Route } from '../records/engine/route.ts'
import { NO_FIELDS, type Reach, shownFields } from './records.ts'

/** What a route of your own reaches: `read` is what it returns, `write` what its body has. */
export function describedFields({ about = {} }: Route): Reach {
  const { params, query, body, response } = about
  return {
    ...{ model: null, scope: false, ...NO_FIELDS },
    ...(response && { read: namesIn(response, 'output') }),
    ...(body && { write: namesIn(body, 'input') }),
    ...(params && { params: namesIn(params, 'input') }),
    ...(query && { query: namesIn(query, 'input') }),
  }
}

/** The members of what a schema takes or makes, or of what is in its lists; `value` is anything else. */
function namesIn(schema: $ZodType, side: 'input' | 'output'): readonly string[] {
  const shape = objectShape({ value: schema }, side).fields.get('value')
  const found = shape ? shownFields({ shape: shape as never, hidden: [] }) : []
  return found.length > 0 ? found : ['value']
}
