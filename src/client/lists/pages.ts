/** A list page after page. It is loaded when it is used. */

import type { ClientError, Result } from '../sending/results.ts'
import type { HistoryPage } from './history.ts'
import type { Counted } from './lists.ts'
import type { Wanted } from './query.ts'

type Values = Readonly<Record<string, unknown>>
export type Listed = Result<unknown[], Values>
export type Page = { readonly data: unknown[]; readonly pagination: Values }

/** Of `all` and `pages`, if the caller does not choose: routers answer with fewer where they allow no more. */
const PAGE_SIZE = 100

/** Every page of a list, each asked for by `list`; throws a `Failed` if one cannot be read. */
export async function* pagesOf(
  wanted: Wanted | undefined,
  list: (wanted: Wanted) => Promise<Listed>,
  Failed: typeof ClientError,
): AsyncGenerator<Page> {
  let next: Wanted | undefined = { pageSize: PAGE_SIZE, ...wanted }
  while (next) {
    const result: Listed = await list(next)
    if (!result.ok) throw new Failed(result.error)
    const { data, pagination = {} } = result
    yield { data, pagination }
    next = following(next, pagination)
  }
}

/** What asks for the page after one; undefined after the last. */
export function following(wanted: Wanted, pagination: Values): Wanted | undefined {
  const { nextCursor, hasMore, currentPage, totalPages } = pagination as Partial<
    Counted & HistoryPage
  >
  if (nextCursor) return { ...wanted, cursor: nextCursor }
  const page = (currentPage as number) + 1
  return (totalPages === undefined ? hasMore : page <= totalPages) ? { ...wanted, page } : undefined
}
