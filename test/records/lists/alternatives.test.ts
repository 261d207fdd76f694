import { expect, it, test } from 'vitest'
import { expectRefused, names, open } from './shop.ts'

const ITEMS = [
  { name: 'ant', size: 1, done: true, tags: ['a'] },
  { name: 'bee', size: 2, done: false, tags: ['b', 'c'] },
  { name: 'cat', size: 3, done: true },
  { name: 'dog', size: null, done: null },
]
const opened = (options = {}) =>
  open({ query: ['name', 'size', 'done', 'tags'], search: ['name'], ...options }, ITEMS)

it('finds the records that one of the filters in `or` matches, and all else matches too', async () => {
  const shop = await opened()
  const found = async (filter: object, search?: string) =>
    names(await shop.ask({ filter, search, sort: 'name' }))
  expect(await found({ or: [{ name: 'ant' }, { size: { gte: 3 } }] })).toEqual(['ant', 'cat'])
  expect(await found({ done: true, or: [{ size: 1 }, { size: 2 }] })).toEqual(['ant'])
  expect(
    await found({
      or: [
        { size: 2, done: false },
        { size: 3, done: false },
      ],
    }),
  ).toEqual(['bee'])
  expect(await found({ or: [{ size: null }, { tags: 'c' }] })).toEqual(['bee', 'dog'])
  expect(await found({ or: [{ name: 'x' }, {}] })).toEqual(['ant', 'bee', 'cat', 'dog'])
  expect(await found({ or: [{ name: 'ant' }, { name: 'bee' }] }, 'ee')).toEqual(['bee'])
  const twenty = Array.from({ length: 20 }, (_, size) => ({ size, name: { ne: 'cat' } }))
  expect(await found({ or: twenty })).toEqual(['ant', 'bee'])
})

it('keeps a scope around `or`', async () => {
  const shop = await opened({ scope: () => ({ done: true }) })
  const filter = { or: [{ done: false }, { size: { gte: 0 } }] }
  expect(names(await shop.ask({ filter, sort: 'name' }))).toEqual(['ant', 'cat'])
})

it('goes on by cursor only with the same alternatives', async () => {
  const shop = await opened({ pagination: 'cursor' })
  const or = [{ size: { lte: 2 } }, { name: 'cat' }]
  const { body } = await shop.ask({ filter: { or }, pageSize: 2 })
  const { nextCursor: cursor } = (body as { pagination: { nextCursor: string } }).pagination
  const next = await shop.ask({ filter: { or: [...or].reverse() }, pageSize: 2, cursor })
  expect(names(next)).toEqual(['cat'])
  const other = { or: [{ size: { lte: 3 } }, { name: 'cat' }] }
  const refused = await shop.ask({ filter: other, pageSize: 2, cursor })
  expect(refused.body.error).toBe('Cursor is not a valid pagination token.')
})

test.each([
  ['no list', { or: { size: 1 } }],
  ['null', { or: null }],
  ['one filter', { or: [{ size: 1 }] }],
  ['21 filters', { or: Array.from({ length: 21 }, () => ({ size: 1 })) }],
  ['a filter that is none', { or: [{ size: 1 }, 'size'] }],
  ['an `or` inside', { or: [{ size: 1 }, { or: [{ size: 1 }, { size: 2 }] }] }],
])('refuses as `or`: %s', async (_, filter) => {
  const shop = await opened()
  expectRefused(shop, await shop.ask({ filter }), "'or' must be a list of 2 to 20 filters.")
})

test.each([
  [[{ size: 1 }, { note: 'x' }], "Field 'note' is not filterable."],
  [[{ size: 1 }, { secret: 'x' }], "Field 'secret' is not filterable."],
  [[{ size: 1 }, { size: {} }], "Filter 'size' has no conditions."],
  [[{ size: 1 }, { size: { $gt: 1 } }], /^Unknown operator '\$gt'/],
  [[{ size: 1 }, { size: 'x' }], 'Invalid value for size.'],
])('holds every rule of a filter inside `or`: %j', async (or, error) => {
  const shop = await opened()
  const answer = await shop.ask({ filter: { or } })
  expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(error) } })
})

it('refuses in `or` what `fieldsFor` withholds', async () => {
  const shop = await opened({ fieldsFor: () => ['name', 'size'] })
  const filter = { or: [{ size: 1 }, { done: true }] }
  expectRefused(shop, await shop.ask({ filter }), "Field 'done' is not filterable.")
})
