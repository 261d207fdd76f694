/** The types of aggregates: what is asked for, and the groups that come of it. */

import type { FieldName, Managed } from '../../model/model.ts'
import type { DatePart } from '../../ports/store/aggregate.ts'
import type { ConditionsOf } from './conditions.ts'

/** What records are grouped by: a field, or a part of a date, in UTC. */
export type GroupName<R> = FieldName<R> | `${FieldName<R>}:${DatePart}`

/** The fields whose values are of the type `V`, and dotted names, whose values are not known to the compiler. */
type Holding<R, V> =
  | {
      [K in keyof R & string]: unknown extends R[K] ? K : NonNullable<R[K]> extends V ? K : never
    }[keyof R & string]
  | (Date extends V ? 'createdAt' | 'updatedAt' : never)
  | `${keyof R & string}.${string}`

/** What is computed of each group: how many records it has, and the sum and so on of fields; dates have no sum and no average. */
export interface Computed<N extends string, D extends string = N> {
  readonly count?: boolean
  readonly sum?: readonly N[]
  readonly avg?: readonly N[]
  readonly min?: readonly (N | D)[]
  readonly max?: readonly (N | D)[]
}

/** What `aggregate` of a collection takes. */
export interface AggregateQuery<R> extends Computed<Holding<R, number>, Holding<R, Date>> {
  /** Up to three names, such as `'country'` and `'createdAt:month'`. Default: one group of all records. */
  readonly by?: readonly GroupName<R>[]
  /** The records that are grouped. Default: all. */
  readonly filter?: ConditionsOf<R>
  /** A name in `by`, `'count'` or `'sum.population'`, with `-` in front for descending, or a list of them. Ties: by `by`. */
  readonly sort?: string | readonly string[]
  /** The most groups to return. Default: no limit. */
  readonly limit?: number
}

type In<A, Key extends PropertyKey> = Extract<A[Key & keyof A], readonly string[]>[number]

/** What `A` asks for, as sorts call it. */
type Asked<A> =
  | In<A, 'by'>
  | (true extends A['count' & keyof A] ? 'count' : never)
  | { [K in 'sum' | 'avg' | 'min' | 'max']: `${K}.${In<A, K>}` }['sum' | 'avg' | 'min' | 'max']

/** The names that `A` may sort by: any, if its sort is known at run time only. */
type SortName<A, Given = A['sort' & keyof A]> = string extends
  | Given
  | Extract<Given, readonly unknown[]>[number]
  ? string
  : Asked<A> | `-${Asked<A>}`

/** A sort by what `A` asks for. */
export interface SortedBy<A> {
  readonly sort?: SortName<A> | readonly SortName<A>[]
}

type NamesIn<A, Key extends PropertyKey> = A extends { readonly [K in Key]: readonly (infer N)[] }
  ? N & string
  : never

type ValueOf<R, K> = K extends `${string}:${DatePart}`
  ? string
  : K extends keyof R
    ? NonNullable<R[K]>
    : K extends keyof Managed
      ? NonNullable<Managed[K]>
      : string | number | boolean | Date

type Keys<R, A> = { [K in NamesIn<A, 'by'>]: ValueOf<R, K> | null }
type Count<A> = A extends { readonly count: true } ? { count: number } : unknown
type Sums<A> = [NamesIn<A, 'sum'>] extends [never]
  ? unknown
  : { sum: { [N in NamesIn<A, 'sum'>]: number } }
type Averages<A> = [NamesIn<A, 'avg'>] extends [never]
  ? unknown
  : { avg: { [N in NamesIn<A, 'avg'>]: number | null } }
type Extremes<R, A, Op extends 'min' | 'max'> = [NamesIn<A, Op>] extends [never]
  ? unknown
  : { [K in Op]: { [N in NamesIn<A, Op>]: Extract<ValueOf<R, N>, number | Date> | null } }

type Whole<T> = { [K in keyof T]: T[K] }

/** A group as `A` asks for it: its keys by their names, then what was computed. */
export type GroupOf<R, A> = Whole<
  Keys<R, A> & Count<A> & Sums<A> & Averages<A> & Extremes<R, A, 'min'> & Extremes<R, A, 'max'>
>
