/**
 * What lists are asked, and what their pages say of themselves.
 *
 * @module
 */

/** What a list may be asked. */
export interface ListQuery {
  readonly category?: string | undefined
  readonly s?: string | undefined
  readonly page?: string | undefined
  readonly pageSize?: string | undefined
}

export function pagesOf(currentPage: number, totalRecords: number): object {
  return { currentPage, pageSize: 50, totalPages: Math.ceil(totalRecords / 50), totalRecords }
}

/** A page of the 51 records that were asked for, with the token of the next one. */
export function pageOf(found: readonly { price?: number; _id?: unknown }[]): object {
  const data = found.slice(0, 50)
  const last = data.at(-1)
  const nextCursor = found.length > 50 ? `${last?.price}_${last?._id}` : null
  return { data, pagination: { pageSize: 50, hasMore: nextCursor !== null, nextCursor } }
}
