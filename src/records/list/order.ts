/**
 * The requested order of a list.
 *
 * @module
 */

import { notSortable, sortNotList, sortNotSingle, sortTooLong } from '../../http/refusals.ts'
import { sortKey } from '../../model/model.ts'
import { type SortKey, withoutRepeats } from '../../ports/filter.ts'
import type { FieldSet, ListRules } from '../setup/resource.ts'
import type { ListRequest, UrlParameters } from './plan.ts'

/** The most fields in the `sort` of a QUERY body. */
export const MAX_SORT_KEYS = 5

/** `?sort=`: one field. */
export function sortInUrl(
  rules: ListRules,
  { query: { sort }, shaped }: UrlParameters,
): ListRequest {
  if (shaped.has('sort') || (sort !== undefined && typeof sort !== 'string')) throw sortNotSingle()
  return sort ? { sort: [allowedKey(rules.urlSortable, sort)] } : {}
}

/** `sort` in a QUERY body: one field, or a list of them. */
export function sortInBody(rules: ListRules, sort: unknown): ListRequest {
  if (sort === '') return {}
  const names: unknown[] = Array.isArray(sort) ? sort : [sort]
  const keys = names.map((name) => {
    if (typeof name !== 'string') throw sortNotList()
    return allowedKey(rules.sortable, name)
  })
  if (keys.length > MAX_SORT_KEYS) throw sortTooLong(MAX_SORT_KEYS)
  return { sort: withoutRepeats(keys) }
}

function allowedKey(sortable: FieldSet, text: string): SortKey {
  const key = sortKey(text)
  if (!sortable.has(key.field)) throw notSortable(key.field)
  return key
}
