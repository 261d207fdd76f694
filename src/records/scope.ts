/**
 * Row-level limits: which records a router may touch for a request.
 *
 * @module
 */

import type { ApiRequest } from '../http/request.ts'
import { castScalar } from '../model/cast.ts'
import type { Model } from '../model/define.ts'
import { all, any, everything, type Filter, nothing, type Scalar } from '../ports/filter.ts'
import { placeOf } from '../ports/shape.ts'
import type { Fields } from '../ports/store.ts'
import type { Host } from './host.ts'

/** The equalities that a scope demands, or nothing for no limit. */
export type ScopeFilter = Readonly<Record<string, Scalar | undefined>> | undefined | void

/** Gives the equalities that limit a router to the records that match them. */
export type ScopeOption = (request: ApiRequest) => ScopeFilter | Promise<ScopeFilter>

/** A request's scope: the equalities by field, and the filter that they make. */
export interface Scope {
  readonly values: Readonly<Record<string, Scalar>>
  readonly filter: Filter
}

/** No limit. */
export const unlimited: Scope = Object.freeze({ values: Object.freeze({}), filter: everything })

/**
 * The scope of `request`. A scope that names an unknown field or leaves a value undefined is a mistake of
 * the deployer's code and throws: a limit that cannot be applied must not turn into no limit.
 */
export function scopeOf(
  model: Model,
  option: ScopeOption | undefined,
  request: ApiRequest,
): Promise<Scope> {
  if (!option) return Promise.resolve(unlimited)
  const known = resolved.get(request) ?? []
  const same = known.find((one) => one.option === option && one.model === model)
  if (same) return same.scope
  const scope = resolve(model, option, request)
  resolved.set(request, [...known, { option, model, scope }])
  return scope
}

/** The scopes of a request are asked for once: an answer is kept under the very scope that it was read with. */
const resolved = new WeakMap<
  ApiRequest,
  readonly { readonly option: ScopeOption; readonly model: Model; readonly scope: Promise<Scope> }[]
>()

async function resolve(model: Model, option: ScopeOption, request: ApiRequest): Promise<Scope> {
  const limits = await option(request)
  if (!limits) return unlimited
  const values: Fields = {}
  for (const [field, value] of Object.entries(limits)) values[field] = limitOf(model, field, value)
  const scalars = values as Record<string, Scalar>
  const filters = Object.entries(scalars).map(
    ([field, value]): Filter => ({ op: 'eq', field, value }),
  )
  return { values: scalars, filter: all(filters) }
}

/**
 * The records of `model` that `request` may see through a reference: all of them where some router shows
 * all, or no router serves the model; else those that one of its routers' scopes admits.
 */
export async function visibleThroughReference(
  host: Host,
  model: Model,
  request: ApiRequest,
): Promise<Filter> {
  const scopes = host.scopesOf(model)
  if (scopes.length === 0 || scopes.includes(undefined)) return everything
  const filters = await Promise.all(
    scopes.map(async (scope) => {
      try {
        return (await scopeOf(model, scope, request)).filter
      } catch {
        // A scope that needs a guard of its own router has nothing to say about this request.
        return nothing
      }
    }),
  )
  return any(filters)
}

function limitOf(model: Model, field: string, value: unknown): Scalar {
  const place = placeOf(model.shape, field)
  if (!place || field.includes('.')) {
    throw new TypeError(`scope: '${field}' is no field of '${model.name}'`)
  }
  if (value instanceof Date) return value
  const scalar =
    value === undefined || (typeof value === 'object' && value !== null)
      ? undefined
      : castScalar(place.shape, value as string)
  if (scalar === undefined) throw new TypeError(`scope: no usable value for '${field}'`)
  return scalar
}
