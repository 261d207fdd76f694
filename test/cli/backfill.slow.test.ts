import { describe, expect, it } from 'vitest'
import { books, booksOf, stored } from './backfilled.ts'

describe('fieldgate backfill', () => {
  it('stores new names, converted values and defaults, and tells how many', async () => {
    const made = await books(booksOf(2))
    expect(await made.fieldgate('backfill', './app.ts')).toMatchObject({
      code: 0,
      out: 'Book: 2 of 2 records changed\nbooks: dropped the index books index ["pages"]\n',
    })
    expect(await stored(made)).toEqual([
      { title: 'book 0', pages: 0, language: 'en' },
      { title: 'book 1', pages: 1, language: 'en' },
    ])
    const again = await made.fieldgate('backfill', './app.ts', '--json')
    expect(JSON.parse(again.out)).toEqual({
      ok: true,
      models: [{ model: 'Book', records: 2, changed: 0 }],
      problems: [],
      dropped: [],
    })
  })

  it('names what it could not convert or move, and ends with 1', async () => {
    const made = await books([
      { name: 'a', pages: 'unknown' },
      { name: 'b', pages: '1' },
      { name: 'b', pages: '2' },
    ])
    const { code, out } = await made.fieldgate('backfill', './app.ts', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      models: [{ model: 'Book', records: 3, changed: 2 }],
      problems: [
        { model: 'Book', problem: 'type', field: 'pages', count: 1 },
        { model: 'Book', problem: 'duplicate', field: 'title', count: 1 },
      ],
    })
    const checked = await made.fieldgate('check', './app.ts', '--json')
    expect(JSON.parse(checked.out)).toMatchObject({
      problems: [{ problem: 'type' }, { problem: 'duplicate', count: 2 }],
    })
  })
})
