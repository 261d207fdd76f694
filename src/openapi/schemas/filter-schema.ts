/** The JSON Schema of a filter, and of the values that it compares fields with. */

import { placeOf } from '../../ports/store/shape.ts'
import {
  LIST,
  MAX_ALTERNATIVES,
  MAX_LIST,
  MIN_ALTERNATIVES,
  OPERATORS,
} from '../../records/engine/conditions.ts'
import type { Resource } from '../../records/setup/resource.ts'
import type { Schema } from '../specification.ts'
import { DATE, ID_SCHEMAS, partsOf, TEXT } from './schemas.ts'

/** The schema of `filter` in a QUERY body; undefined if the router filters by nothing. */
export function filterSchema({ model, filterable }: Resource): Schema | undefined {
  const fields = [...filterable].filter((field) => !field.includes('.'))
  if (fields.length === 0) return undefined
  const condition = (field: string): Schema => {
    const value = valueSchema(model.shape, field)
    const scalar = { anyOf: [value, { type: 'null' }] }
    const list = { type: 'array', items: scalar, minItems: 1, maxItems: MAX_LIST }
    const operators = OPERATORS.map((name) => [name, LIST.includes(name) ? list : scalar])
    return {
      anyOf: [
        value,
        { type: 'null' },
        list,
        { ...partsOf(Object.fromEntries(operators)), minProperties: 1 },
      ],
    }
  }
  const conditions = fields.map((field) => [field, condition(field)] as const)
  const one = partsOf(Object.fromEntries(conditions))
  const or = { type: 'array', items: one, minItems: MIN_ALTERNATIVES, maxItems: MAX_ALTERNATIVES }
  // A field may have this name; it is then a field.
  return { ...one, properties: { or, ...Object.fromEntries(conditions) } }
}

export function valueSchema(shape: Resource['model']['shape'], field: string): Schema {
  const at = placeOf(shape, field)?.shape
  switch (at?.kind) {
    case 'number':
      return { type: at.isInteger ? 'integer' : 'number' }
    case 'boolean':
      return { type: 'boolean' }
    case 'date':
      return DATE
    case 'id':
      return ID_SCHEMAS[at.idType]
    case 'string':
      return TEXT
    default:
      return { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] }
  }
}
