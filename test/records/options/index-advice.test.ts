import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createRouter, defineModel, type RouterOptions, type Store } from '../../../src/index.ts'
import { service } from '../service.ts'

const fields = {
  code: z.string(),
  name: z.string(),
  size: z.number(),
  tags: z.array(z.string()),
}
type Options = Omit<
  RouterOptions<{ code: string; name: string; size: number; tags: string[] }>,
  'model'
>

function warned(
  indexes: readonly (string | readonly string[])[],
  options: Options,
  store?: Store,
): string[] {
  const { app, log } = service({ ...(store && { store }) })
  const Thing = defineModel('AdvisedThing', {
    fields,
    unique: ['code'],
    indexes: indexes as readonly 'name'[],
  })
  app.mount('/things', createRouter({ model: Thing, allowedFields: ['name'], ...options }))
  return log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
}

describe('2.6 lists that no index serves are named at start-up, with the line that ends it', () => {
  test.each<[string, Options, string, string]>([
    ['a filter', { query: ['name'] }, '?name=', "'name'"],
    ['the default order', { orderBy: '-size' }, '?sort=-size', "'-size'"],
    ['a sort', { query: ['code'], sortableFields: ['code', 'name'] }, '?sort=name', "'name'"],
    ['groups', { aggregates: { by: ['name'] } }, "groups by 'name'", "'name'"],
    [
      'groups that are computed with',
      { aggregates: { by: ['name'], of: ['size'] } },
      "groups by 'name'",
      "['name', 'size']",
    ],
    [
      'a filter in the default order',
      { query: ['name'], orderBy: ['-size', 'code'] },
      '?sort=-size, ?name=',
      "['-size', 'code'], ['name', '-size', 'code']",
    ],
  ])('2.6 %s', (_, options, asked, indexes) => {
    expect(warned([], options)).toEqual([
      `Router '/things': no index serves ${asked}, so every record is read. Write in defineModel('AdvisedThing', …): indexes: [${indexes}]`,
    ])
  })

  test('2.6 the line keeps the indexes that are there', () => {
    const [message] = warned(['-size', ['name', 'code']], { query: ['name'], orderBy: '-size' })
    expect(message).toContain("indexes: ['-size', ['name', 'code'], ['name', '-size']]")
  })

  test.each<[string, readonly (string | readonly string[])[], Options, string | undefined]>([
    ['the same directions', ['-size'], { orderBy: '-size' }, undefined],
    ['other directions', ['size'], { orderBy: '-size' }, "'size', '-size'"],
    ['more fields', [['name', '-size']], { sortableFields: ['name'] }, "['name', '-size'], 'name'"],
    ['a unique field, sorted by', [], { sortableFields: ['code'] }, "'code'"],
    ['a sort, backwards', ['name'], { sortableFields: ['name'] }, '?sort=-name, so every record'],
    ['a sort, forwards', ['-name'], { sortableFields: ['name'] }, '?sort=name, so every record'],
    ['a sort both ways', ['name', '-name'], { sortableFields: ['name'] }, undefined],
    [
      'the default order, turned',
      ['-size'],
      { orderBy: '-size', sortableFields: ['size'] },
      "indexes: ['-size', 'size']",
    ],
    ['a unique field, filtered by', [], { query: ['code'] }, undefined],
    ['a filter', [['name', '-size']], { query: ['name'] }, undefined],
    [
      'a filter in an order',
      [['name', 'size']],
      { query: ['name'], orderBy: '-_id' },
      "['name', '-_id']",
    ],
    ['a filter, the newest first', ['name'], { query: ['name'], orderBy: '-_id' }, undefined],
    ['a filter, the oldest first', ['-name'], { query: ['name'], orderBy: '_id' }, undefined],
    ['an order, turned with its ids', ['size'], { orderBy: ['-size', '-_id'] }, undefined],
    ['an order, turned without its ids', ['-size'], { orderBy: ['-size', '-_id'] }, '-size'],
    ['groups, for which it reads every document', [], { aggregates: { by: ['name'] } }, undefined],
    ['what follows the ids', ['size'], { orderBy: ['size', '_id', 'name'] }, undefined],
  ])(
    '2.6 on MongoDB, whose orders need an index of their own: %s',
    (_, indexes, options, added) => {
      const store = { ...sqliteStore(), exactOrder: true }
      const [message] = warned(indexes, options, store)
      if (added === undefined) expect(message).toBeUndefined()
      else expect(message).toContain(added)
    },
  )

  test.each<[string, readonly (string | readonly string[])[], Options]>([
    ['no order and no filter', [], {}],
    ['ids', [], { query: ['_id'], orderBy: '-_id' }],
    ['a unique field', [], { query: ['code'], orderBy: 'code' }],
    ['an index', ['name'], { query: ['name'], sortableFields: ['name'] }],
    ['an index that is read backwards', ['-size'], { orderBy: 'size' }],
    ['an index of more fields', [['name', '-size']], { query: ['name'], sortableFields: ['name'] }],
    [
      'an index of filter and order',
      ['-size', ['name', '-size']],
      { query: ['name'], orderBy: '-size' },
    ],
    ['a filter, the newest first', ['name'], { query: ['name'], orderBy: '-_id' }],
    ['an order whose ids are turned', ['size'], { orderBy: ['size', '-_id'] }],
    ['lists, which have no order', [], { query: ['tags'] }],
    [
      'groups whose values are in an index',
      [['name', 'size']],
      { aggregates: { by: ['name'], of: ['size'] } },
    ],
    ['a scope, whose fields come first', [], { query: ['name'], scope: () => ({ size: 1 }) }],
  ])('2.6 nothing is said of %s', (_, indexes, options) => {
    expect(warned(indexes, options)).toEqual([])
  })
})

test('of a table that was there before, the model may not name the indexes', () => {
  const { app, log } = service()
  const Town = defineModel('AdvisedTown', {
    fields: { name: z.string() },
    table: 'town',
    columns: { _id: 'town_id' },
    id: 'integer',
  })
  const access = { create: false }
  app.mount(
    '/towns',
    createRouter({ access, model: Town, query: ['name'], allowedFields: ['name'] }),
  )
  expect(log.text).toContain(
    "the model names no index that serves ?name=. Write in defineModel('AdvisedTown', …): indexes: ['name']. Start-up then says which of them the table lacks.",
  )
})
