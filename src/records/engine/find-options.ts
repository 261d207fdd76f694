/** The options of `find` → `Read`. Your app's code sets them, perhaps to what a client sent. */

import { notSortable } from '../../http/errors/refusals.ts'
import { isOrdered, type Model, type SortName, sortKey } from '../../model/model.ts'
import { leadsSomewhere, noSuchField } from '../../model/suggest.ts'
import type { Logger } from '../../ports/services/logger.ts'
import { type Filter, totalOrder, withoutRepeats } from '../../ports/store/filter.ts'
import type { Fields, Projection, Read } from '../../ports/store/records.ts'
import type { Models } from './models.ts'

/** A field that may hold a reference, or a reference inside the record that one leads to. */
export type ReferenceName<R> = `${keyof R & string}.${string}` | ReferenceField<R>
type ReferenceField<R> = {
  [K in keyof R & string]: NonNullable<R[K]> extends string | readonly (string | null | undefined)[]
    ? K
    : never
}[keyof R & string]

/** A referenced record that `expand` has filled in. */
export interface ExpandedRecord {
  readonly _id: string
  readonly [field: string]: unknown
}

/** The part of `R` that the names `S` keep, with the references `N`, or without what they leave out, with `-` in front. */
export type Selected<R, S extends string, N> = [S] extends [never]
  ? R
  : string extends S
    ? R
    : string extends keyof R
      ? R
      : [S] extends [`-${string}`]
        ? { [K in keyof R as `-${K & string}` extends S ? never : K]: R[K] }
        : { [K in keyof R as K extends '_id' | Head<S | N> ? K : never]: R[K] }

/** A record with the references named `N` filled in, which are null where the record that they lead to is missing. */
export type Found<R, N> = [N] extends [never] ? R : FilledIn<R, N>

type FilledIn<R, N, Kept = never> = {
  [K in keyof R]: K extends Head<N> ? Filled<R[K], Inside<N, K>, Kept> : R[K]
}
/** The field that a path begins with. */
export type Head<N> = N extends `${infer H}.${string}` ? H : N
/** Where the paths that begin with the field `K` go on. */
export type Inside<N, K> = N extends `${K & string}.${infer Rest}` ? Rest : never
/** A value with the references at the paths `N` inside filled in. Ids among `Kept` may stay ids. */
export type Filled<V, N, Kept = never> = V extends string
  ? (V & Kept) | ExpandedRecord | null
  : V extends readonly (infer E)[]
    ? (null extends E ? Filled<E, N, Kept> : NonNullable<Filled<E, N, Kept>>)[]
    : V extends object
      ? FilledIn<V, N, Kept>
      : V

/** What narrows records down beyond a filter. */
export interface SearchOptions {
  /**
   * A search term. It finds what a search on the model's routers would find; a model that no router searches is read
   * through, for the term in any of its strings that aren't hidden.
   */
  readonly s?: string
}

/** Options of `find`, beyond the filter. `N` names the references to fill in, and `S` what to select. */
export interface FindOptions<R, N = ReferenceName<R>, S = string> extends SearchOptions {
  /** A sort key, or a list of them. Default: by `_id`. */
  readonly sort?: SortName<R> | readonly SortName<R>[]
  /** The most records to return. Default: no limit. */
  readonly limit?: number
  /** The number of records to skip. Default 0. */
  readonly skip?: number
  /** Names to keep, or names with `-` in front to leave out. */
  readonly select?: readonly S[]
  /**
   * References to fill in, such as `'author'` or `'author.country'`, at most two deep. The records that they lead to come
   * without hidden fields.
   */
  readonly expand?: readonly N[]
}

/** Records, with all that they may lead to. */
export interface Reachable
  extends Pick<Models, 'engine' | 'modelNamed' | 'scopesOf' | 'searchedIn'> {
  readonly logger: Logger
}

/** What `find` and `count` take beyond one collection. */
export interface Reach {
  /** The records among those that match `filter` that `term` finds. */
  search(from: Reachable, model: Model, filter: Filter, term: unknown): Promise<Filter>
  /** What is read of each record if references are filled in, and what fills them in. */
  expand(
    from: Reachable,
    model: Model,
    names: readonly string[],
    select: readonly string[] | undefined,
  ): Expansion
}

export interface Expansion {
  readonly select: Projection | undefined
  fill(records: readonly Fields[]): Promise<readonly Fields[]>
}

export interface Origin extends Reachable {
  readonly reach: Reach
}

/** The records that match `filter`, and that `s` finds. */
export async function searched(
  origin: Origin,
  model: Model,
  filter: Filter,
  { s }: SearchOptions,
): Promise<Filter> {
  return s === undefined ? filter : origin.reach.search(origin, model, filter, s)
}

/** The read for `filter`, and what fills in references. Throws a 400 for a wrong field, a `TypeError` for options. */
export async function reading<R>(
  origin: Origin,
  model: Model,
  filter: Filter,
  options: FindOptions<R>,
): Promise<{ readonly read: Read; readonly fill?: Expansion['fill'] }> {
  const { sort = [], limit = Number.MAX_SAFE_INTEGER, skip = 0, select: names, expand } = options
  const keys = withoutRepeats([sort].flat().map(sortKey))
  for (const { field } of keys) if (!isOrdered(model.shape, field)) throw notSortable(field)
  const limits = { limit: natural('limit', limit), skip: natural('skip', skip) }
  const expansion = expand && origin.reach.expand(origin, model, expand, names)
  const select = expansion ? expansion.select : projectionOf(model, names)
  const matching = await searched(origin, model, filter, options)
  const read = { filter: matching, sort: totalOrder(keys), ...limits, ...(select && { select }) }
  return expansion ? { read, fill: expansion.fill } : { read }
}

/** `value`, a number of records. Throws a `TypeError` for anything else. */
export function natural(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new TypeError(`'${option}' must be a whole number of at least 0`)
}

/** What `select` leaves of a record. Throws a `TypeError` for names that make no sense. */
export function projectionOf(model: Model, select: readonly string[] = []): Projection | undefined {
  if (select.length === 0) return undefined
  const dropped = select.filter((name) => name.startsWith('-')).map((name) => name.slice(1))
  if (dropped.length > 0 && dropped.length < select.length) {
    throw new TypeError(
      `'select' must list names to keep, or names with '-' to leave out, not both`,
    )
  }
  for (const name of dropped.length > 0 ? dropped : select) {
    if (!leadsSomewhere(model.shape, name)) throw new TypeError(noSuchField('select', name, model))
  }
  return dropped.length > 0 ? { exclude: dropped } : { include: select }
}
