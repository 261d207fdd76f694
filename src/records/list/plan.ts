/**
 * What a list means, in our words, whatever way it was asked: GET and QUERY meet here, so they cannot differ.
 *
 * @module
 */

import type { Filter, SortKey } from '../../ports/filter.ts'

/** A list as the client asked for it, checked and cast. */
export interface ListPlan {
  readonly filter: Filter
  /** The search term; undefined for none. */
  readonly search: string | undefined
  /** Empty for the router's default order. */
  readonly sort: readonly SortKey[]
  readonly paging: Paging
}

/** How much of the list is wanted. */
export type Paging =
  | { readonly kind: 'none'; readonly limit: number }
  | { readonly kind: 'page'; readonly page: number; readonly pageSize: number }
  | { readonly kind: 'cursor'; readonly cursor: string | undefined; readonly pageSize: number }
