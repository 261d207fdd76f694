import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, createApp, createRouter, defineModel } from '../../src/index.ts'

const Book = defineModel('Book', {
  fields: {
    title: z.string(),
    code: z.string(),
    year: z.number().nullish(),
    printed: z.date().optional(),
  },
})

let app: App

async function ask(path: string): Promise<{ status: number; titles: string[]; error?: string }> {
  const response = await app.handle(new Request(`http://localhost${path}`))
  const body = (await response.json()) as { data?: { title: string }[]; error?: string }
  const titles = (body.data ?? []).map(({ title }) => title)
  return { status: response.status, titles, ...(body.error !== undefined && { error: body.error }) }
}

beforeAll(async () => {
  const logger = { debug() {}, info() {}, warn() {}, error: console.error }
  app = createApp({ store: sqliteStore(), logger })
  const fields = ['title', 'code', 'year', 'printed'] as const
  const lists = { model: Book, query: fields, allowedFields: [], sortableFields: fields }
  app.mount('/books', createRouter(lists))
  app.mount('/feed', createRouter({ ...lists, orderBy: '-year', pagination: 'cursor' }))
  const books = app.store.collection(Book)
  const rows = [
    { title: 'a', code: '007', year: 1990, printed: new Date('2024-01-15') },
    { title: 'b', code: '7', year: 1990 },
    { title: 'c', code: '8', year: null, printed: new Date('2024-03-01') },
    { title: 'd', code: '9' },
    { title: 'e', code: '10', year: 2000 },
  ]
  for (const row of rows) await books.insert(row)
})

describe('docs/differences.md: lists', () => {
  it('equality, range and compare on the same field all hold', async () => {
    const filters =
      'rangeField=year&range=1900-1999&compareField=year&compareOperator=ne&compareValue=1990'
    expect((await ask(`/books?${filters}`)).titles).toEqual([])
    expect((await ask('/books?year=2000&rangeField=year&range=1900-1999')).titles).toEqual([])
    expect((await ask('/books?year=1990&rangeField=year&range=1900-1999')).titles).toEqual([
      'a',
      'b',
    ])
  })

  it('an unparsable range is refused', async () => {
    for (const range of ['abc-def', '10-abc', '50', '1-2-3']) {
      const { status, error } = await ask(`/books?rangeField=year&range=${range}`)
      expect({ status, error }).toEqual({ status: 400, error: 'Invalid range.' })
    }
  })

  it('date fields take ranges of ISO dates, half-open ones too', async () => {
    const range = (text: string) => ask(`/books?rangeField=printed&range=${text}`)
    expect((await range('2024-01-01..2024-02-01')).titles).toEqual(['a'])
    expect((await range('2024-02-01..')).titles).toEqual(['c'])
    expect((await range('..2024-02-01')).titles).toEqual(['a'])
  })

  it('an unknown compareOperator is refused', async () => {
    const { status, error } = await ask(
      '/books?compareField=year&compareOperator=like&compareValue=1',
    )
    expect({ status, error }).toEqual({ status: 400, error: "Unknown compareOperator 'like'." })
  })

  it('a numeric-looking value on a string field is compared as the text that was sent', async () => {
    const compare = (value: string) => ask(`/books?compareField=code&compareValue=${value}`)
    expect((await compare('007')).titles).toEqual(['a'])
    expect((await compare('7')).titles).toEqual(['b'])
  })

  it('ties never make pages overlap', async () => {
    const pages = await Promise.all(
      [1, 2, 3].map((page) => ask(`/books?sort=year&page=${page}&pageSize=2`)),
    )
    expect(pages.flatMap(({ titles }) => titles)).toEqual(['c', 'd', 'a', 'b', 'e'])
  })

  it('a cursor scan visits records whose sort value is null or missing', async () => {
    const seen: string[] = []
    let path = '/feed?pageSize=1'
    for (let page = 0; page < 10 && path !== ''; page += 1) {
      const response = await app.handle(new Request(`http://localhost${path}`))
      const { data, pagination } = (await response.json()) as {
        data: { title: string }[]
        pagination: { nextCursor: string | null }
      }
      seen.push(...data.map(({ title }) => title))
      path =
        pagination.nextCursor === null ? '' : `/feed?pageSize=1&cursor=${pagination.nextCursor}`
    }
    expect(seen).toEqual(['e', 'a', 'b', 'c', 'd'])
  })

  it('what is refused is refused before the store is asked, search fields that are no text at start-up', () => {
    expect(() =>
      app.mount('/x', createRouter({ model: Book, allowedFields: [], search: ['year'] })),
    ).toThrow(/year/)
  })
})
