/**
 * `describe_model`: a model in few words, without what is hidden.
 *
 * @module
 */

import { type $ZodType, toJSONSchema } from 'zod/v4/core'
import { isHidden, type Model } from '../model/model.ts'
import type { Shape } from '../ports/shape.ts'
import { OPERATORS } from '../records/engine/conditions.ts'
import { writableNow } from '../records/setup/protected-fields.ts'
import type { Resource } from '../records/setup/resource.ts'
import type { AgentAction, Served } from './models.ts'

type Json = Readonly<Record<string, unknown>>

/** What is told of a value beyond its type. */
const TOLD = [
  ...['description', 'enum', 'const', 'format', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'default'],
]

/** The description that a model has in its schema. */
export function descriptionOf({ schema }: Model): string | undefined {
  const { description } = jsonOf(schema)
  return typeof description === 'string' ? description : undefined
}

/** A model for those who may do `actions` with it. */
export function described(served: Served, actions: readonly AgentAction[]): object {
  const { mount, resource } = served
  const { model } = resource
  const json = jsonOf(model.schema)
  const required = listOf(json.required)
  const takes = (write: 'create' | 'update') => writableNow(resource, write)
  return {
    model: mount,
    ...(descriptionOf(model) !== undefined && { description: descriptionOf(model) }),
    actions,
    fields: membersOf(model, model.shape.fields, '', json),
    ...(actions.includes('list') && { query: asked(served) }),
    ...(actions.includes('create') && {
      create: {
        fields: takes('create'),
        required: takes('create').filter((name) => required.includes(name)),
      },
    }),
    ...(actions.includes('update') && { update: { fields: takes('update') } }),
  }
}

/** What query_records takes for a model; empty lists are left out. */
export function asked({ resource, routes }: Served): Json {
  const isBody = routes.has('query')
  const { filterable, sortable, search, expandable, aggregates, pagination } = resource
  const lists = {
    filter: isBody ? [...filterable] : resource.query,
    ...(isBody && { operators: OPERATORS }),
    sort: [...sortable],
    search: search.map((one) => ('field' in one ? one.field : `${one.reference}.${one.path}`)),
    expand: [...expandable.keys()],
    ...(isBody && { by: [...aggregates.by.keys()], aggregate: [...aggregates.of.keys()] }),
  }
  const there = Object.entries(lists).filter(([, names]) => names.length > 0)
  return { ...Object.fromEntries(there), pages: pagination === 'cursor' ? 'cursor' : 'page' }
}

/** The names that a call may have meant by one that was refused. */
export function namesFor(
  served: Served,
  write: 'create' | 'update' | undefined,
): readonly string[] {
  const { resource } = served
  if (write) return writableNow(resource, write)
  const { pages: _, operators: __, ...lists } = asked(served)
  return [...new Set([...Object.values(lists).flatMap(listOf), ...shownNames(resource)])]
}

function shownNames({ model }: Resource): readonly string[] {
  return [...model.shape.fields.keys()].filter((name) => !isHidden(model, name))
}

function membersOf(
  model: Model,
  fields: ReadonlyMap<string, Shape>,
  before: string,
  json: Json,
): Json {
  const { properties = {} } = json as { properties?: Readonly<Record<string, Json>> }
  const members = [...fields].flatMap(([name, shape]) => {
    const type = typeOf(model, shape, `${before}${name}`, properties[name] ?? {})
    return type ? [[name, type] as const] : []
  })
  return Object.fromEntries(members)
}

/** The schema of a value at a path; undefined if it is hidden, or all in it is. */
function typeOf(model: Model, shape: Shape, path: string, json: Json): Json | undefined {
  const told = tellingIn(json)
  if (shape.kind === 'object') {
    const properties = membersOf(model, shape.fields, `${path}.`, told)
    const isEmpty = Object.keys(properties).length === 0
    if (isEmpty && isHidden(model, path)) return undefined
    return { ...noted(told), type: 'object', properties }
  }
  if (shape.kind === 'list') {
    const items = typeOf(model, shape.element, path, (told.items ?? {}) as Json)
    return items && { ...noted(told), type: 'array', items }
  }
  if (isHidden(model, path)) return undefined
  switch (shape.kind) {
    case 'id':
      return { type: 'string', ...(shape.ref !== undefined && { ref: shape.ref }) }
    case 'date':
      return { ...noted(told), type: 'string', format: 'date-time' }
    case 'number':
      return { ...noted(told), type: shape.isInteger ? 'integer' : 'number' }
    case 'map':
      return { ...noted(told), type: 'object' }
    case 'mixed':
      return noted(told)
    default:
      return { ...noted(told), type: shape.kind }
  }
}

/** The part of a schema that tells of the value, where null may stand for it. */
function tellingIn(json: Json): Json {
  const options = Array.isArray(json.anyOf) ? (json.anyOf as readonly Json[]) : []
  const values = options.filter(({ type }) => type !== 'null')
  const { anyOf: _, ...rest } = json
  return values.length === 1 ? { ...values[0], ...rest } : json
}

function noted(json: Json): Json {
  const isTold = (name: string) =>
    json[name] !== undefined && Math.abs(Number(json[name])) !== Number.MAX_SAFE_INTEGER
  return Object.fromEntries(TOLD.filter(isTold).map((name) => [name, json[name]]))
}

function jsonOf(schema: $ZodType): Json {
  return toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as unknown as Json
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
