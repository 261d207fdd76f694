/** Records, and what is read of them. */

import type { Filter, Scalar, SortKey } from './filter.ts'

/** A record or a part of one: JSON values and Dates; ids are strings. A member that is `undefined` is absent. */
export type Fields = Record<string, unknown>

/** The part of a record that a read returns; `_id` always comes along. Names may be dotted. */
export type Projection =
  | { readonly include: readonly string[] }
  | { readonly exclude: readonly string[] }

/** A read of several records. */
export interface Read {
  readonly filter: Filter
  /**
   * If empty, the order is unspecified. A total order ends with `_id`. Each key leads to one value of one type, never
   * to a list or a `mixed` value, which every database orders differently.
   */
  readonly sort: readonly SortKey[]
  /**
   * Starts after this position in the sort order: one value per sort key, null for null or missing. The last sort key
   * must be `_id`.
   */
  readonly after?: readonly Scalar[]
  /**
   * Starts after the record that matches this filter, at its current position in the sort order; at most one record
   * matches, and it need not match `filter`. If there is none, the read rejects with `AnchorGone`. Excludes `after`. Only
   * for collections with `seeksRecords`.
   */
  readonly afterRecord?: Filter
  /** Records to skip. Default 0. */
  readonly skip?: number
  /** The most records to return. */
  readonly limit: number
  /** The part of each record to return. Default: all of it. */
  readonly select?: Projection
  /** Whether `findJson` fills in the defaults that the schema's `declared` names. Default false; `find` never does. */
  readonly fillDefaults?: boolean
  readonly hints?: ReadHints
}

/** Limits and hints for a read. A store that cannot follow a hint ignores it, except `timeLimitMs`. */
export interface ReadHints {
  /** A read that takes longer (in milliseconds) rejects with `StoreTimeout`. */
  readonly timeLimitMs?: number | undefined
  readonly allowDiskUse?: boolean | undefined
  readonly batchSize?: number | undefined
  /**
   * When it aborts, a read that is still waiting rejects with the signal's reason and never starts; a running one may
   * finish.
   */
  readonly signal?: AbortSignal | undefined
  /** Also members that the schema does not declare, as far as the store has them; without `select`. */
  readonly isWhole?: boolean | undefined
}
