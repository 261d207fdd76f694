/**
 * What query_records asks for: at most 50 records and 20,000 characters, and how to go on.
 *
 * @module
 */

import { HttpError } from '../http/errors.ts'
import type { Fields } from '../ports/store.ts'
import type { Served } from './models.ts'
import { MOST_CHARACTERS, MOST_RECORDS } from './tools.ts'

/** `asked` with pages of a size that agents can read. What makes no sense stays, for the route to refuse. */
export function bounded({ resource }: Served, asked: Fields): Fields {
  const { limit, ...body } = asked
  const most = Math.min(MOST_RECORDS, resource.maxLimit)
  if (isGroups(asked)) return { ...asked, limit: atMost(limit ?? most, most) }
  if (limit !== undefined && (body.page !== undefined || body.pageSize !== undefined)) return asked
  const { defaultPageSize, pagination } = resource
  const pageSize = atMost(limit ?? body.pageSize ?? defaultPageSize, most)
  return { ...body, pageSize, ...(pagination === 'offset' && { page: body.page ?? 1 }) }
}

function isGroups({ aggregate, by }: Fields): boolean {
  return (aggregate ?? by) !== undefined
}

function atMost(size: unknown, most: number): unknown {
  return typeof size === 'number' && size > most ? most : size
}

/** `body` for fewer records, the first of which is the same; undefined if there is one alone. */
export function fewer(body: Fields, characters: number): Fields | undefined {
  const key = isGroups(body) ? 'limit' : 'pageSize'
  const size = body[key] as number
  if (!(size > 1)) return undefined
  const fits = Math.floor((size * MOST_CHARACTERS * 0.9) / characters)
  const target = Math.max(1, Math.min(fits, size - 1))
  if (typeof body.page !== 'number') return { ...body, [key]: target }
  // Only a size that divides this one has a page that begins with the same record.
  let next = target
  while (size % next !== 0) next -= 1
  return { ...body, pageSize: next, page: (body.page - 1) * (size / next) + 1 }
}

/** A sentence on how to go on, if there is more than was returned. */
export function moreAfter({ pagination }: Fields): string | undefined {
  const { nextCursor, hasMore, currentPage, pageSize, totalPages } = (pagination ?? {}) as Fields
  if (typeof nextCursor === 'string') {
    return `There are more records: ask again with cursor ${JSON.stringify(nextCursor)}.`
  }
  const isMore = hasMore === true || Number(currentPage) < Number(totalPages)
  if (!isMore) return undefined
  if (currentPage === undefined) return 'There are more groups: narrow the filter.'
  return `There are more records: ask again with page ${Number(currentPage) + 1} and pageSize ${pageSize}.`
}

/** The URL parameters of `body`, for routers without QUERY. Throws a 400 for what only a QUERY can say. */
export function inUrl(body: Fields): string {
  const { filter = {}, ...rest } = body
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...rest, ...(filter as Fields) })) {
    const isList = Array.isArray(value) && name in rest
    if (name === 'aggregate' || name === 'by' || (typeof value === 'object' && !isList)) {
      throw new HttpError(400, `This model is filtered by single values alone, and not grouped.`)
    }
    params.set(name, String(value))
  }
  return `?${params}`
}
