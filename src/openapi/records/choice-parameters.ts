/** The parameters by which clients choose what they see of records, of lists and of one record. */

import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import { isHidden } from '../../model/model.ts'
import { MAX_NAMES } from '../../records/read/choice.ts'
import type { Resource } from '../../records/setup/resource.ts'
import { TEXT } from '../schemas/schemas.ts'
import type { Parameter, Schema } from '../specification.ts'

/** One parameter in one router: its schema, or undefined if the router has no use for it. */
export interface Described {
  readonly schema: Schema | undefined
  readonly description: string
  readonly refusals: readonly HttpError[]
}

export type Describe = (resource: Resource) => Described

/** `select`: a list of fields. */
export const select: Describe = ({ model }) => ({
  schema: { type: 'array', items: TEXT, minItems: 1, maxItems: MAX_NAMES },
  description: `The fields to return, such as \`${firstField(model)}\`; \`_id\` always comes along. The others are absent, even those that the response's schema requires. Default: all that you may see.`,
  refusals: [refuse.notNames('select', MAX_NAMES), refuse.notSelectable('<field>')],
})

/** `expand`: a list of references, where the router lists any. */
export const expand: Describe = ({ expandable }) => ({
  schema:
    expandable.size > 0
      ? { type: 'array', items: { type: 'string', enum: [...expandable.keys()] }, minItems: 1 }
      : undefined,
  description: 'The references to fill in.',
  refusals: [refuse.notNames('expand', MAX_NAMES), refuse.notExpandable('<field>')],
})

/** A parameter; names in a list are separated by commas, and one may stand alone. */
export function parameter(name: string, description: string, schema: Schema): Parameter {
  const at = { name, in: 'query', description } as const
  if (schema.type !== 'array') return { ...at, schema }
  return { ...at, style: 'form', explode: false, schema: { anyOf: [schema.items, schema] } }
}

export type Row = Described & { readonly name: string }

/** The parameters of an operation, and what may be refused about them. */
export interface Asked {
  readonly parameters: readonly Parameter[]
  readonly refusals: readonly HttpError[]
}

/** Those of `rows` that the router has a use for, and what all of them may be refused for. */
export function parametersOf(rows: readonly Row[]): Asked {
  const parameters = rows.flatMap(({ name, description, schema }) =>
    schema ? [parameter(name, description, schema)] : [],
  )
  return { parameters, refusals: rows.flatMap(({ refusals }) => refusals) }
}

export function choiceParameters(resource: Resource): Asked {
  return parametersOf([
    { name: 'select', ...select(resource) },
    { name: 'expand', ...expand(resource) },
  ])
}

function firstField(model: Resource['model']): string {
  return (
    [...model.shape.fields.keys()].find((name) => name !== '_id' && !isHidden(model, name)) ?? '_id'
  )
}
