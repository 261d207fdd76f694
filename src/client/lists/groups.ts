/** Groups of records: what they may be asked for, and what comes of it. */

import type { Managed } from '../../model/model.ts'
import type { GroupOf } from '../../records/engine/aggregate-query.ts'
import type { CallOptions } from '../sending/call-options.ts'
import type { Call } from '../sending/connection.ts'
import type { AnyRecords, NamesIn, Wire } from '../shapes.ts'
import type { Where } from './lists.ts'
import type { Wanted } from './query.ts'

export type { SortedBy } from '../../records/engine/aggregate-query.ts'

/** Whether there are more groups than `limit`. */
export interface Cut {
  readonly hasMore: boolean
}

type Aggregates<T extends AnyRecords> = T['options'] extends { readonly aggregates: infer A }
  ? A
  : never
type Of<T extends AnyRecords> = NamesIn<Aggregates<T>, 'of'> & string
type By<T extends AnyRecords> = NamesIn<Aggregates<T>, 'by'> & string
/** Those of numbers: dates have no sum. */
type Summed<T extends AnyRecords> = {
  [N in Of<T>]: (T['record'] & Managed)[N] extends Date | null | undefined ? never : N
}[Of<T>]

/** Options of `aggregate`: what to compute, by which groups, and of which records. */
export interface GroupOptions<T extends AnyRecords> extends CallOptions {
  /** Conditions on the router's `filterableFields`. */
  readonly where?: Where<T>
  /** A search term, where the router has search fields. */
  readonly search?: string
  /** The number of records. */
  readonly count?: boolean
  /** The sums of numbers of the router's `aggregates.of`. */
  readonly sum?: readonly Summed<T>[]
  readonly avg?: readonly Summed<T>[]
  readonly min?: readonly Of<T>[]
  readonly max?: readonly Of<T>[]
  /** Up to three names of the router's `aggregates.by`. Default: one group of all records. */
  readonly by?: readonly By<T>[]
  /** Names of what is asked for, such as `'-count'`. Default: the order of the groups. */
  readonly sort?: string | readonly string[]
  /** The most groups, at most the router's `maxLimit`, which is the default. */
  readonly limit?: number
}

/** A group as `A` asks for it. */
export type Group<T extends AnyRecords, A> = Wire<GroupOf<T['record'], A>>

type Measures = Readonly<Record<'count' | 'sum' | 'avg' | 'min' | 'max', unknown>>

export function groups<T>(
  _: string,
  [{ count, sum, avg, min, max, ...wanted }]: [Wanted & Measures],
  { list, call }: { list(wanted: Wanted, call: Call): Promise<T>; readonly call: Call },
): Promise<T> {
  return list({ ...wanted, aggregate: { count, sum, avg, min, max } }, call)
}
