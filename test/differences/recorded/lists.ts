import * as z from 'zod'
import { createRouter, defineModel, type RouterOptions } from '../../../src/index.ts'
import { BOOKS, Book, type BookValues, shop } from './books.ts'
import { type Cases, each, starts, status } from './case.ts'

const ALL = ['a', 'b', 'c', 'd', 'e']

/** A list's titles. */
const list = (query: string) => async () => each((await shop()).get(`/books?${query}`))

/** Whether a router with these options starts. */
const router = (options: object) => async () => {
  const { app } = await shop()
  const made = { model: Book, ...BOOKS, ...options } as RouterOptions<BookValues>
  return starts(() => app.mount('/more', createRouter(made)))
}

/** A list by QUERY. */
const query = (json: unknown) => async () => each((await shop()).send('QUERY', '/books', { json }))

/** Follows cursors to the end. */
async function walked(): Promise<unknown> {
  const { get } = await shop()
  const seen: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await get(`/feed?pageSize=1${cursor && `&cursor=${cursor}`}`)
    seen.push(...(body.data as { title: string }[]).map(({ title }) => title))
    cursor = (body.pagination as { nextCursor: string | null }).nextCursor
  }
  return seen
}

/** Lists, pages and the options that make them. */
export const lists: Cases = {
  'a plain list': { asks: list(''), there: ALL },
  equality: { asks: list('code=7'), there: ['b'] },
  'a repeated parameter': { asks: list('code=7&code=8'), there: ['b', 'c'] },
  'two fields': { asks: list('code=7&year=1990'), there: ['b'] },
  'a parameter that is no field of query': { asks: list('secret=hush'), there: ALL },
  'an object as a value': { asks: list('year[$ne]=0'), there: 400 },
  'a range': { asks: list('rangeField=year&range=1980-1999'), there: ['a', 'b'] },
  'a half-open range': { asks: list('rangeField=year&range=1995-'), there: ['e'] },
  'a range of another field': { asks: list('rangeField=secret&range=1-2'), there: 400 },
  'a compare': {
    asks: list('compareField=year&compareOperator=gt&compareValue=1990'),
    there: ['e'],
  },
  'a compare of another field': { asks: list('compareField=secret&compareValue=1'), there: 400 },
  'a search': { asks: list('s=C'), there: ['c'] },
  'a long search': { asks: list(`s=${'x'.repeat(129)}`), there: 400 },
  'a sort': { asks: list('sort=-title'), there: [...ALL].reverse() },
  'a sort by another field': { asks: list('sort=secret'), there: 400 },
  'a cursor on a router of pages': { asks: list('cursor=x'), there: 400 },
  pages: { asks: list('sort=title&page=2&pageSize=2'), there: ['c', 'd'] },
  'a page that is no number': { asks: list('sort=title&page=x&pageSize=2'), there: ['a', 'b'] },
  'pageSize alone': { asks: list('sort=title&pageSize=2'), there: ALL },
  'a value that cannot be cast': { asks: list('year=x'), there: 400 },
  'QUERY: operators': {
    asks: query({ filter: { year: { gte: 1990, lt: 2000 } } }),
    there: ['a', 'b'],
  },
  'QUERY: any of': { asks: query({ filter: { code: ['7', '8'] } }), there: ['b', 'c'] },
  'QUERY: an operator with $': { asks: query({ filter: { year: { $gt: 1 } } }), there: 400 },
  'QUERY: another field': { asks: query({ filter: { secret: 'x' } }), there: 400 },
  'QUERY: an unknown key': { asks: query({ where: {} }), there: 400 },
  'QUERY: a page that is text': { asks: query({ page: '1' }), there: 400 },
  'QUERY: limit and page': { asks: query({ page: 1, limit: 2 }), there: 400 },
  'QUERY: sorts': { asks: query({ sort: ['-title'], limit: 2 }), there: ['e', 'd'] },
  'QUERY: six sorts': { asks: query({ sort: Array(6).fill('title') }), there: 400 },

  'equality and range on one field': {
    row: 'of equality, range and compare on one field the last one wins',
    asks: list('year=2000&rangeField=year&range=1900-1999'),
    there: ['a', 'b'],
    here: [],
  },
  'a parameter that is repeated 101 times': {
    row: 'a parameter may be repeated without end',
    asks: list(Array(101).fill('code=7').join('&')),
    there: ['b'],
    here: 400,
  },
  'a range that is none': {
    row: 'an unparsable range is ignored',
    asks: list('rangeField=year&range=abc-def'),
    there: ALL,
    here: 400,
  },
  'a range with spaces': {
    row: 'spaces in a range are trimmed',
    asks: list('rangeField=year&range=1980%20-%201999'),
    there: ['a', 'b'],
    here: 400,
  },
  'a range of dates': {
    row: 'ranges are numbers only',
    asks: list('rangeField=printed&range=2024-01-01..2024-02-01'),
    there: ALL,
    here: ['a'],
  },
  'a number in hexadecimal': {
    row: 'values are cast as Mongoose casts them',
    asks: list('year=0x7c6'),
    there: ['a', 'b'],
    here: 400,
  },
  'an unknown compareOperator': {
    row: 'a compare with an unknown `compareOperator` is ignored',
    asks: list('compareField=year&compareOperator=like&compareValue=1990'),
    there: ALL,
    here: 400,
  },
  'compareValue=007 of a text field': {
    row: '`compareValue=007` on a text field looks for `7`',
    asks: list('compareField=code&compareValue=007'),
    there: ['b'],
    here: ['a'],
  },
  'a search field that is no text': {
    row: "a search field that isn't text silently finds nothing",
    asks: router({ search: ['year'] }),
    there: 'starts',
    here: 'is refused',
  },
  'pages of records that tie': {
    row: 'records that tie have no order',
    asks: async () => {
      const { get } = await shop()
      const page = (at: number) => each(get(`/books?sort=year&page=${at}&pageSize=2`))
      return (await Promise.all([1, 2, 3].map(page))).flat()
    },
    there: 'any order',
    here: ['c', 'd', 'a', 'b', 'e'],
  },
  'a walk over nulls': {
    row: 'nulls lose records in a cursor scan',
    asks: walked,
    there: ['e', 'b', 'a'],
    here: ['e', 'a', 'b', 'c', 'd'],
  },
  'a cursor with other filters': {
    row: 'a cursor names a record and the sort',
    asks: async () => {
      const { get } = await shop()
      const { pagination } = (await get('/feed?pageSize=1')).body as {
        pagination: { nextCursor: string }
      }
      return status(get(`/feed?pageSize=1&code=7&cursor=${pagination.nextCursor}`))
    },
    there: 200,
    here: 400,
  },
  'an option that makes no sense': {
    row: 'options that make no sense silently become defaults',
    asks: router({ countStrategy: 'fast' }),
    there: 'starts',
    here: 'is refused',
  },
  'a placeholder for what is not given': {
    row: "`'none'` means no option",
    asks: router({ orderBy: 'none' }),
    there: 'starts',
    here: 'is refused',
  },
  'a field in query that is named like a parameter': {
    row: 'a field in `query` may be named like a parameter of lists',
    asks: async () => {
      const { app } = await shop()
      const Sheet = defineModel('RecordedSheet', { fields: { page: z.string() } })
      const sheets = createRouter({ model: Sheet, query: ['page'], allowedFields: [] })
      return starts(() => app.mount('/sheets', sheets))
    },
    there: 'starts',
    here: 'is refused',
  },
  'a cache by its address': {
    row: '`cache: { url }`, `REDIS_URL`',
    asks: router({ cache: { url: 'redis://127.0.0.1:1' } }),
    there: 'starts',
    here: 'is refused',
  },
}
