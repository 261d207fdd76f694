/**
 * `describe_model`: a model in few words, without what is hidden.
 *
 * @module
 */

import { type $ZodCheck, type $ZodType, type $ZodTypes, globalRegistry } from 'zod/v4/core'
import { isHidden, type Model } from '../model/model.ts'
import type { Shape } from '../ports/shape.ts'
import { OPERATORS } from '../records/engine/conditions.ts'
import { writableNow } from '../records/setup/protected-fields.ts'
import type { Resource } from '../records/setup/resource.ts'
import type { AgentAction, Served } from './models.ts'

type Json = Readonly<Record<string, unknown>>

/** The description that a schema has. */
export function descriptionOf(schema: $ZodType): { readonly description?: string } {
  const { description } = globalRegistry.get(schema) ?? {}
  return description === undefined ? {} : { description }
}

/** A model for those who may do `actions` with it. */
export function described(served: Served, actions: readonly AgentAction[]): object {
  const { mount, resource } = served
  const { model } = resource
  const takes = (write: 'create' | 'update') => writableNow(resource, write)
  const isRequired = (name: string) => model.fields[name]?._zod.optin === undefined
  return {
    ...{ model: mount, ...descriptionOf(model.schema), actions },
    fields: membersOf(model, model.shape.fields),
    ...(actions.includes('list') && { query: asked(served) }),
    ...(actions.includes('create') && {
      create: {
        fields: takes('create'),
        required: takes('create').filter(isRequired),
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

function membersOf(model: Model, fields: ReadonlyMap<string, Shape>, before = ''): Json {
  const members = [...fields].flatMap(([name, shape]) => {
    const type = typeOf(model, shape, `${before}${name}`)
    return type
      ? [[name, { ...type, ...(before === '' && noted(model.fields[name])) }] as const]
      : []
  })
  return Object.fromEntries(members)
}

/** The type of the value at a path; undefined if it is hidden, or all in it is. */
function typeOf(model: Model, shape: Shape, path: string): Json | undefined {
  if (shape.kind === 'list') {
    const items = typeOf(model, shape.element, path)
    return items && { type: 'array', items }
  }
  if (shape.kind !== 'object') return isHidden(model, path) ? undefined : plainType(shape)
  const properties = membersOf(model, shape.fields, `${path}.`)
  const isShown = Object.keys(properties).length > 0 || !isHidden(model, path)
  return isShown ? { type: 'object', properties } : undefined
}

function plainType(shape: Shape): Json {
  switch (shape.kind) {
    case 'id':
      return { type: 'string', ref: shape.ref }
    case 'date':
      return { type: 'string', format: 'date-time' }
    case 'number':
      return { type: shape.isInteger ? 'integer' : 'number' }
    case 'mixed':
      return {}
    default:
      return { type: shape.kind === 'map' ? 'object' : shape.kind }
  }
}

/** The limits that checks set, as JSON Schema calls them. */
const LIMITS: Readonly<Record<string, string>> = {
  ...{ min_length: 'minLength', max_length: 'maxLength' },
  ...{ greater_than: 'minimum', less_than: 'maximum' },
}

interface Check {
  readonly check: string
  readonly inclusive?: boolean
  readonly value?: unknown
  readonly minimum?: unknown
  readonly maximum?: unknown
}

/** What a field's schema says beyond its type: its description, the values it takes, and its limits. */
function noted(schema: $ZodType | undefined): Json {
  if (!schema) return {}
  const { def, values } = (schema as $ZodTypes)._zod
  const { innerType, checks = [] } = def as { innerType?: $ZodType; checks?: readonly $ZodCheck[] }
  const limits = checks.flatMap(({ _zod }) => {
    const {
      check,
      inclusive,
      value,
      minimum = value,
      maximum = minimum,
    } = _zod.def as unknown as Check
    const name = LIMITS[check]
    if (name === undefined) return []
    return [[inclusive === false ? name.replace('m', 'exclusiveM') : name, maximum] as const]
  })
  return {
    ...noted(innerType),
    ...(values && !innerType && { enum: [...values] }),
    ...Object.fromEntries(limits),
    ...descriptionOf(schema),
  }
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
