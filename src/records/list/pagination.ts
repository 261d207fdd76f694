/**
 * Pages: sizes, limits and refusals (spec 2.3, 4.1, 8).
 *
 * @module
 */

import { pageTooDeep } from '../../http/refusals.ts'
import { numberFrom } from '../../model/cast.ts'
import type { Resource } from '../setup/resource.ts'
import type { Paging } from './plan.ts'

/** A page number from text: what is no number, or is below 1, is the first page. */
export function pageNumber(text: unknown): number {
  return Math.max(1, wholeNumber(text) ?? 1)
}

/** A page size from text: 0 or no number is the default, a negative one is 1, none is over the maximum. */
export function pageSize(text: unknown, resource: Resource): number {
  const size = wholeNumber(text)
  if (size === undefined || size === 0) return resource.defaultPageSize
  return Math.min(Math.max(1, size), resource.maxLimit)
}

/** An offset page; refused beyond `maxPage`, or where its offset is no longer an exact number. */
export function offsetPage(page: number, size: number, resource: Resource): Paging {
  const deepest = Math.min(resource.maxPage, Math.floor(Number.MAX_SAFE_INTEGER / size))
  if (page > deepest) throw pageTooDeep(page, deepest)
  return { kind: 'page', page, pageSize: size }
}

function wholeNumber(text: unknown): number | undefined {
  const number = typeof text === 'string' ? numberFrom(text) : undefined
  return number === undefined ? undefined : Math.trunc(number)
}
