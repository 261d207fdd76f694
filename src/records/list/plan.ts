/** A list as requested, independent of the method: GET and QUERY meet here, so they cannot differ. */

import type { Query } from '../../http/request/request.ts'
import type { Filter, SortKey } from '../../ports/store/filter.ts'
import type { SearchField } from '../engine/models.ts'
import type { Choice } from '../read/choice.ts'

export interface ListPlan {
  readonly filter: Filter
  /** The search term; undefined for none. */
  readonly search: string | undefined
  readonly searched: readonly SearchField[]
  /** Empty for the order by `_id` alone. */
  readonly sort: readonly SortKey[]
  readonly paging: Paging
  /** The fields and references that the client chooses; undefined for what the router shows. */
  readonly choice: Choice | undefined
  /** Whether it names a part of the list, by a page or a limit. */
  readonly isPart: boolean
}

export type Paging =
  | { readonly kind: 'none'; readonly limit: number }
  | { readonly kind: 'page'; readonly page: number; readonly pageSize: number }
  | { readonly kind: 'cursor'; readonly cursor: string | undefined; readonly pageSize: number }

/** A URL's parameters; `shaped` are the names before a bracket, as in `sort[]=name`. */
export interface UrlParameters {
  readonly query: Query
  readonly shaped: ReadonlySet<string>
}

/** What the parameters request, one by one; all filters have to match. */
export interface ListRequest extends Choice {
  readonly filters?: readonly Filter[]
  readonly search?: string | undefined
  readonly sort?: readonly SortKey[]
  readonly page?: number | undefined
  readonly pageSize?: number | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
