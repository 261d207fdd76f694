/** Pages: numbers, sizes, cursors and their errors. */

import { cursorNotString, notPositiveInteger, pageTooDeep } from '../../http/refusals.ts'
import { numberFrom } from '../../model/cast.ts'
import type { ListRules } from '../setup/resource.ts'
import type { ListRequest, Paging, UrlParameters } from './plan.ts'

/** An offset page; refused beyond `maxPage`, or if its offset is no longer an exact number. */
export function offsetPage(page: number, size: number, rules: ListRules): Paging {
  const deepest = Math.min(rules.maxPage, Math.floor(Number.MAX_SAFE_INTEGER / size))
  if (page > deepest) throw pageTooDeep(page, deepest)
  return { kind: 'page', page, pageSize: size }
}

/** `?page=`: anything that is not a number, or is below 1, is the first page. */
export function pageInUrl(_: ListRules, { query: { page } }: UrlParameters): ListRequest {
  return isGiven(page) ? { page: Math.max(1, wholeNumber(page) ?? 1) } : {}
}

/** `?pageSize=`: 0 or not a number is the default, a negative number is 1. Without pages it has no effect. */
export function pageSizeInUrl(
  { pagination }: ListRules,
  { query: { page, pageSize } }: UrlParameters,
): ListRequest {
  if (pagination === 'offset' && !isGiven(page)) return {}
  const size = wholeNumber(pageSize)
  return { pageSize: size ? Math.max(1, size) : undefined }
}

/** `?cursor=`. */
export function cursorInUrl(_: ListRules, { query: { cursor } }: UrlParameters): ListRequest {
  return isGiven(cursor) ? { cursor: String(cursor) } : {}
}

/** `cursor` in a QUERY body. */
export function cursorInBody(_: ListRules, cursor: unknown): ListRequest {
  if (cursor === '') return {}
  if (typeof cursor !== 'string') throw cursorNotString()
  return { cursor }
}

/** A number in a QUERY body; it must be whole and at least 1. */
export function positiveInBody(key: 'page' | 'pageSize' | 'limit', value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 1) throw notPositiveInteger(key)
  return value as number
}

/** Whether a URL has a parameter: an empty one counts as absent. */
function isGiven(value: string | string[] | undefined): value is string | string[] {
  return value !== undefined && value !== ''
}

function wholeNumber(text: unknown): number | undefined {
  const number = typeof text === 'string' ? numberFrom(text) : undefined
  return number === undefined ? undefined : Math.trunc(number)
}
