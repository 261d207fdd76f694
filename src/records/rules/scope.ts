/** Row-level limits: which records a request can reach through a router. */

import { inTime } from '../../http/deadline.ts'
import { type ApiRequest, RequestData } from '../../http/request/request.ts'
import type { Model } from '../../model/model.ts'
import { didYouMean } from '../../model/suggest.ts'
import { castScalar } from '../../model/values/cast.ts'
import { isFields } from '../../model/writable.ts'
import type { MaybePromise } from '../../ports/promises/maybe-promise.ts'
import {
  all,
  any,
  everything,
  type Filter,
  is,
  nothing,
  type Scalar,
} from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import { placeOf, type Shape } from '../../ports/store/shape.ts'
import type { Models, ScopeOption } from '../engine/models.ts'
import { type Readable, type ReadableFields, readableFields } from './fields-for.ts'

/** A value that a top-level field must have, or one of its elements. */
export interface Limit {
  readonly field: string
  readonly value: Scalar
  readonly isInList: boolean
}

/** The records that a request can reach: those that match all limits of one alternative. */
export class Scope {
  readonly filter: Filter
  readonly #alternatives: readonly (readonly Limit[])[]

  constructor(alternatives: readonly (readonly Limit[])[]) {
    this.#alternatives = alternatives
    this.filter = filterOf(alternatives)
  }

  /** The fields that it names. They are never the client's to write, or it could write itself into the scope. */
  get fields(): ReadonlySet<string> {
    return new Set(this.#alternatives.flat().map(({ field }) => field))
  }

  /** What all alternatives have in common, set on a create. */
  get values(): Readonly<Fields> {
    const [first = [], ...others] = this.#alternatives
    const common = first.filter(({ field, value }) =>
      others.every((other) => other.some((one) => one.field === field && isSame(one.value, value))),
    )
    const entries = common.map(({ field, value, isInList }) => {
      return [field, isInList && value !== null ? [value] : value]
    })
    return Object.fromEntries(entries)
  }

  /** Whether a record is within the scope, as a store would decide by the filter. */
  admits(record: Fields): boolean {
    return this.#alternatives.some((limits) => limits.every((limit) => holds(record, limit)))
  }

  /** What a record within the scope must match besides, so that it stays within it when `changes` are written. */
  keeping(changes: Fields): Filter {
    const isWritten = ({ field }: Limit) => Object.hasOwn(changes, field)
    if (!this.#alternatives.flat().some(isWritten)) return everything
    const left = this.#alternatives.filter((limits) =>
      limits.filter(isWritten).every((limit) => holds(changes, limit)),
    )
    return filterOf(left.map((limits) => limits.filter((limit) => !isWritten(limit))))
  }
}

export const unlimited: Scope = new Scope([[]])

/** One scope for reads, and one for writes. */
export interface ScopePair<R = Fields> {
  /** The records that are listed and read, here and through references. */
  readonly read: ScopeOption<R>
  /** The records that are created, changed and deleted. */
  readonly write: ScopeOption<R>
}

/** What limits the records that a router shows, and those that it lets clients write; undefined for no limit. */
export type Scopes = Readonly<Record<keyof ScopePair, ScopeOption | undefined>>

/**
 * The scope of `request`. Throws if the scope names no field or an unknown one, or leaves a value undefined: that is a
 * mistake in your app's code, and a limit that cannot be applied must not turn into no limit.
 */
export function scopeOf(
  model: Model,
  option: ScopeOption | undefined,
  request: ApiRequest,
): MaybePromise<Scope> {
  if (!option) return unlimited
  const known = resolved.of(request) ?? []
  const same = known.find((one) => one.option === option && one.model === model)
  if (same) return same.scope
  const scope = resolve(model, option, request)
  resolved.set(request, [...known, { option, model, scope }])
  return scope
}

/** What limits a write, and what its response may show. */
export interface WriteLimits {
  readonly scope: Scope
  readonly reads: Scope
  readonly fields: ReadableFields
}

export const NO_LIMITS: WriteLimits = { scope: unlimited, reads: unlimited, fields: undefined }

/** The limits of a write, all before it happens: what fails must not fail after it. */
export async function writeLimits(
  router: Readable & { readonly scope: Scopes },
  request: ApiRequest,
): Promise<WriteLimits> {
  const { model, scope } = router
  const [own, reads] = await Promise.all([
    scopeOf(model, scope.write, request),
    scopeOf(model, scope.read, request),
  ])
  return { scope: own, reads, fields: await readableFields(router, request) }
}

/** Each scope runs once per request: a response is cached under the very scope that it was read with. */
const resolved = new RequestData<
  readonly { readonly option: ScopeOption; readonly model: Model; readonly scope: Promise<Scope> }[]
>('scopes')

async function resolve(model: Model, option: ScopeOption, request: ApiRequest): Promise<Scope> {
  const limits: unknown = await inTime(request, () => option(request))
  if (limits === undefined) return unlimited
  // `null` and `false` come from a slip, such as an absent user; they must not open everything.
  const { or, ...others } = isFields(limits) ? limits : {}
  // A field may have this name too; it is never compared with a list.
  if (!Array.isArray(or)) return new Scope([limitsOf(model, limits)])
  if (Object.keys(others).length > 0)
    throw new TypeError("scope returned 'or' beside fields; name these in each member of 'or'")
  if (or.length === 0)
    throw new TypeError("scope returned an empty 'or'; return undefined for no limit")
  // A hole in the list counts as a member too.
  return new Scope(Array.from(or, (one) => limitsOf(model, one)))
}

function limitsOf(model: Model, limits: unknown): readonly Limit[] {
  if (!isFields(limits))
    throw new TypeError('scope must return an object of equalities, or undefined for no limit')
  const entries = Object.entries(limits)
  // E.g. `{}` for a user without a tenant: nothing to compare with must not mean everything.
  if (entries.length === 0)
    throw new TypeError('scope returned an object without fields; return undefined for no limit')
  return entries.map(([field, given]) => limitOf(model, field, given))
}

/**
 * The records of `model` that `request` may see through a reference: all of them if no router limits them, or if one
 * router shows all without a guard; else those that the scope of one of its routers admits.
 */
export async function visibleThroughReference(
  { scopesOf }: Pick<Models, 'scopesOf'>,
  model: Model,
  request: ApiRequest,
): Promise<Filter> {
  const scopes = scopesOf(model)
  if (scopes.length === 0 || scopes.includes(undefined)) return everything
  const filters = await Promise.all(
    scopes.map(async (scope) => {
      try {
        return (await scopeOf(model, scope, request)).filter
      } catch {
        // A scope that needs its own router's guard does not apply to this request.
        return nothing
      }
    }),
  )
  return any(filters)
}

function limitOf(model: Model, field: string, given: unknown): Limit {
  const place = field.includes('.') ? undefined : placeOf(model.shape, field)
  if (!place) {
    const known = [...model.shape.fields.keys()]
    throw new TypeError(`scope: ${model.name} has no field '${field}'.${didYouMean(field, known)}`)
  }
  const value = castLimit(place.shape, given)
  if (value === undefined) throw new TypeError(`scope returned no usable value for '${field}'`)
  return { field, value, isInList: place.parts.length > 1 }
}

function castLimit(shape: Shape, given: unknown): Scalar | undefined {
  if (given instanceof Date) {
    return shape.kind === 'date' && !Number.isNaN(given.getTime()) ? given : undefined
  }
  const scalar =
    given === null ||
    typeof given === 'string' ||
    typeof given === 'boolean' ||
    Number.isFinite(given)
  return scalar ? castScalar(shape, given as string) : undefined
}

function filterOf(alternatives: readonly (readonly Limit[])[]): Filter {
  return any(alternatives.map((limits) => all(limits.map(({ field, value }) => is(field, value)))))
}

function holds(record: Fields, { field, value, isInList }: Limit): boolean {
  const stored = record[field]
  const values = isInList && Array.isArray(stored) ? stored : [stored]
  return values.some((one) => isSame(one, value))
}

/** Null stands for a missing value too, as in a filter. */
function isSame(stored: unknown, value: Scalar): boolean {
  if (stored instanceof Date && value instanceof Date) return stored.getTime() === value.getTime()
  return (stored ?? null) === value
}
