/**
 * The rules of a model in its schemas: what the values of fields may become, and which records exclude each other.
 *
 * @module
 */

import type { Model } from '../model/model.ts'
import type { FieldTransitions } from '../model/rules.ts'
import type { Scalar } from '../ports/filter.ts'
import { topOf } from '../ports/paths.ts'
import type { ObjectSchema } from './schemas.ts'

/** `schema` of a record or a body, with what the model's rules say of its fields. */
export function withRules<S extends ObjectSchema>(
  { transitions = [], exclude = [] }: Pick<Model, 'transitions' | 'exclude'>,
  schema: S,
): S {
  const properties = { ...schema.properties }
  const isShown = (field: string) => properties[topOf(field)] !== undefined
  for (const one of transitions) {
    const property = properties[one.field]
    if (!property) continue
    const description = [property.description, sentencesOf(one)].filter(Boolean).join(' ')
    properties[one.field] = {
      ...property,
      description,
      ...(one.next && { 'x-transitions': Object.fromEntries(one.next) }),
      ...(one.initial && { 'x-initial': one.initial }),
    }
  }
  const shown = exclude.filter(({ equal, range, where }) =>
    [...equal, ...range, ...Object.keys(where)].every(isShown),
  )
  return { ...schema, properties, ...(shown.length > 0 && { 'x-exclude': shown }) }
}

function sentencesOf({ next, initial }: FieldTransitions): string {
  const changes = [...(next ?? [])]
    .filter(([, to]) => to.length > 0)
    .map(([from, to]) => `from ${told([from])} to ${told(to)}`)
  const both = [
    ...(initial ? [`Begins with ${told(initial)}.`] : []),
    ...(changes.length > 0 ? [`Changes only ${changes.join('; ')}.`] : []),
  ]
  return both.join(' ')
}

function told(values: readonly Scalar[]): string {
  return values.map((one) => (typeof one === 'string' ? `'${one}'` : String(one))).join(' or ')
}
