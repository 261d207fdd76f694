/** What a list may be asked for, and how it is paged. */

import type { Managed } from '../../model/model.ts'
import type { CallOptions } from '../sending/call-options.ts'
import type { AnyRecords, Element, NamesIn, Shown } from '../shapes.ts'

type NoDots<N> = N extends `${string}.${string}` ? never : N

/** The fields that a QUERY may filter by: those of `filterableFields`, which by default are those of `query`. */
type Filterable<O> = O extends { readonly filterableFields: readonly (infer N)[] }
  ? NoDots<N>
  : O extends { readonly query: readonly (infer N)[] }
    ? NoDots<N>
    : never

type Bare<K> = K extends `-${infer N}` ? N : K
type Ordered<O> = O extends { readonly orderBy: infer K } ? Bare<Element<K>> : never
/** A list has no order. */
type NoList<N, R> = N extends keyof R
  ? R[N] extends readonly unknown[] | null | undefined
    ? never
    : N
  : N
type Sortable<O, R> = O extends { readonly sortableFields: readonly (infer N)[] }
  ? N
  : (O extends { readonly query: readonly (infer N)[] } ? NoList<N, R> : never) | Ordered<O>

// A type that is inferred has no name: the compiler's messages then list what it is made of.
/** A sort key: a field's name, with `-` in front for descending. */
export type SortKey<T extends AnyRecords> =
  Sortable<T['options'], T['record']> extends infer N
    ? [N] extends [never]
      ? NoSortableFields
      : N extends string
        ? N | `-${N}`
        : never
    : never

/** The router has no fields to sort by: list some in its `query` or `sortableFields`. */
export interface NoSortableFields {
  readonly 'no sortable fields': never
}

/** The router searches no fields: list some in its `search`. */
export interface NoSearchFields {
  readonly 'no search fields': never
}

/** What a field can be compared with: in a list, an element; of a branded value, any of its type. */
type Compared<V> = V extends string | number | boolean | null
  ? V extends object
    ? V extends string
      ? string
      : V extends number
        ? number
        : boolean
    : V
  : V extends undefined
    ? null
    : V extends Date
      ? Date | string
      : V extends readonly (infer E)[]
        ? Compared<E>
        : V extends object
          ? never
          : string | number | boolean | null

/** What a field must be: a value, one of a list, or operators with their values, all of which must hold. */
export type ConditionOn<V> =
  | V
  | readonly V[]
  | {
      readonly eq?: V
      readonly ne?: V
      readonly gt?: NonNullable<V>
      readonly gte?: NonNullable<V>
      readonly lt?: NonNullable<V>
      readonly lte?: NonNullable<V>
      readonly in?: readonly V[]
      readonly nin?: readonly V[]
    }

type FieldOf<R, K> = K extends keyof R ? R[K] : Managed[K & keyof Managed]

/** Conditions by field, all of which must hold. */
type Alternative<T extends AnyRecords> = T extends unknown
  ? {
      readonly [K in Filterable<T['options']> & string]?: ConditionOn<
        Compared<FieldOf<T['record'], K>>
      >
    }
  : never

/** Conditions by field, all of which must hold, and in `or` 2 to 20 filters of which one must. */
export type Where<T extends AnyRecords> = 'or' extends keyof T['record']
  ? Alternative<T>
  : Alternative<T> & { readonly or?: readonly Alternative<T>[] }

/** What a list may be narrowed and ordered by. */
export interface Conditions<T extends AnyRecords> extends CallOptions {
  /** Conditions on the router's `filterableFields`. */
  readonly where?: Where<T>
  /** A search term, where the router has search fields. */
  readonly search?: 'search' extends keyof T['options'] ? string : NoSearchFields
  /** A sort key, or up to five. Default: the router's `orderBy`. */
  readonly sort?: SortKey<T> | readonly SortKey<T>[]
  /** The records per page, at most the router's `maxLimit`. */
  readonly pageSize?: number
}

/** What is returned of each record, of the fields `S` and the references `E`. */
export interface Choice<
  T extends AnyRecords,
  S extends Selectable<T> = Selectable<T>,
  E extends Expandable<T> = Expandable<T>,
> {
  /** The fields to return, dotted ones too; `_id` always comes along. Default: all that you may see. */
  readonly select?: readonly S[]
  /** The references to fill in, of the router's `expandable`. */
  readonly expand?: readonly E[]
}

/** The fields that a client may name. */
export type Selectable<T extends AnyRecords> =
  Shown<T> extends infer R ? (keyof R & string) | `${string}.${string}` : never

/** The references that a client may fill in. */
export type Expandable<T extends AnyRecords> = NamesIn<T['options'], 'expandable'>

/** One page, or with `limit` the first records: for routers that page by number. */
interface ByNumber {
  readonly page?: number
  readonly limit?: number
}

/** One page: for routers that page by cursor. */
interface ByCursor {
  /** `pagination.nextCursor` of the page before. */
  readonly cursor?: string
}

/** Options of `list`. */
export type ListOptions<T extends AnyRecords> = Conditions<T> &
  (T['options'] extends { readonly pagination: 'cursor' } ? ByCursor : ByNumber)

/** How a list was cut into pages. */
export type PaginationOf<O> = O extends { readonly pagination: 'cursor' }
  ? { readonly pageSize: number; readonly hasMore: boolean; readonly nextCursor: string | null }
  : O extends { readonly countStrategy: 'none' }
    ? { readonly currentPage: number; readonly pageSize: number; readonly hasMore: boolean }
    : Counted

/** Pages with totals. */
export interface Counted {
  readonly currentPage: number
  readonly pageSize: number
  readonly totalPages: number
  readonly totalRecords: number
}
