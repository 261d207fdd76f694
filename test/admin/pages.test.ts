import { assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Values } from '../../packages/admin/src/page/data.ts'
import type { Resource } from '../../packages/admin/src/page/document.ts'
import type { Field } from '../../packages/admin/src/page/fields.ts'
import { csvOf, Lists, type Page } from '../../packages/admin/src/page/lists.ts'
import { runs, seeded } from '../runs.ts'

/** A router with `total` records, on pages of at most `most`. */
function router(total: number, most: number, isByCursor: boolean, isCounted: boolean) {
  const records = Array.from({ length: total }, (_, at) => ({ _id: `${at}`, id: `${at}` }))
  return async (_: string, { page, cursor, pageSize }: Values): Promise<Page> => {
    const size = Math.min(Number(pageSize), most)
    const start = isByCursor ? Number(cursor ?? 0) : (Number(page) - 1) * size
    const end = start + size
    const hasMore = end < total
    const pages = { totalRecords: total, totalPages: Math.ceil(total / size), currentPage: page }
    const pagination = isByCursor
      ? { pageSize: size, hasMore, nextCursor: hasMore ? `${end}` : undefined }
      : { pageSize: size, ...(isCounted ? pages : { hasMore }) }
    return { ok: true, data: records.slice(start, end), pagination }
  }
}

const cases = record({
  total: integer({ min: 0, max: 60 }),
  most: integer({ min: 1, max: 25 }),
  perPage: integer({ min: 1, max: 30 }),
  isByCursor: boolean(),
  isCounted: boolean(),
  first: constantFrom(1, 2, 3),
})

describe('The pages of a list', () => {
  it('have each record once, however small the pages of the router are', async () => {
    await assert(
      asyncProperty(cases, async ({ total, most, perPage, isByCursor, isCounted, first }) => {
        const lists = new Lists(router(total, most, isByCursor, isCounted))
        const resource = { name: 'things', isByCursor, sortable: new Set(), expandable: [] }
        const ids = async (page: number) => {
          const asked = { pagination: { page, perPage } }
          const found = await lists.list(resource as unknown as Resource, asked)
          const hasNext = found.pageInfo?.hasNextPage ?? page * perPage < (found.total ?? 0)
          return { ids: found.data.map(({ id }) => id), hasNext }
        }
        const expected = (page: number) =>
          Array.from({ length: total }, (_, at) => `${at}`).slice(
            (page - 1) * perPage,
            page * perPage,
          )
        // As who opens the address of a page.
        if ((first - 1) * perPage < total) expect((await ids(first)).ids).toEqual(expected(first))
        let hasNext = true
        for (let page = 1; hasNext; page += 1) {
          const shown = await ids(page)
          expect(shown.ids).toEqual(expected(page))
          hasNext = shown.hasNext
          expect(hasNext).toBe(page * perPage < total)
        }
      }),
      { numRuns: runs(100), ...seeded },
    )
  })
})

it.each([...'=+-@\t\r\n\0＝＋－＠'])(
  'A file holds nothing that a spreadsheet runs, in texts and in names of other records: %j',
  (start) => {
    const text = `${start}1`
    const fields = [{ name: 'title' }, { name: 'by' }, { name: 'size' }] as Field[]
    const cell = /[\r\n]/.test(text) ? `"'${text}"` : `'${text}`
    const row = { title: text, by: { _id: '6b', name: text }, size: -1 }
    expect(csvOf(fields, [row])).toBe(`title,by,size\r\n${cell},${cell},-1\r\n`)
  },
)
