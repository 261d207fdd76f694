import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LoggedModels } from '../../../adapters/stores/changes/entries.ts'
import { dropAll } from '../../../adapters/stores/sqlite/changes/log.ts'
import { Connection } from '../../../adapters/stores/sqlite/connection/connection.ts'
import { addClock, DEADLINE } from '../../../adapters/stores/sqlite/connection/functions.ts'
import type { Statement } from '../../../adapters/stores/sqlite/layout/sql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { openCollection } from '../../../adapters/stores/sqlite/statements/collection.ts'
import { among, keys, reading, where } from '../../../extras/contract/store/ask.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import { all, any, everything, type Filter } from '../../../src/ports/store/filter.ts'
import type { Read } from '../../../src/ports/store/records.ts'
import type { Collection, CollectionSchema } from '../../../src/ports/store/store.ts'
import { newFile } from './file.ts'

const schema: CollectionSchema = {
  ...people,
  unique: [['email']],
  indexes: [keys('-age'), keys('name'), keys('tenant', '-age'), keys('tenant', 'name', '-score')],
}
const path = newFile()
let connection: Connection
beforeAll(async () => {
  const store = sqliteStore({ path })
  await store.prepare([schema])
  await store.close()
  connection = new Connection(path)
  addClock(connection.db, () => false)
})
afterAll(() => connection.close())

/** How SQLite would run a statement, a line for each loop. */
function stepsOf({ sql, values }: Statement, of: Connection = connection): string[] {
  const rows = of.rows({ sql: `EXPLAIN QUERY PLAN ${sql}`, values })
  return rows.map(({ detail }) => String(detail))
}

/** How SQLite would run what `ask` asks, a line for each loop. */
async function planOf(ask: (collection: Collection) => Promise<unknown>): Promise<string[]> {
  let asked: Statement | undefined
  const note = (statement: Statement) => {
    asked = statement
    return [{ 0: '{"_id":"x"}', doc: '{"_id":"x"}' }]
  }
  const collection = openCollection(schema, {
    deadline: DEADLINE,
    read: async (statement) => note(statement),
    count: async (statement) => note(statement).length,
    write: async (statement) => ({ rows: note(statement), changes: 0 }),
  })
  await ask(collection)
  return stepsOf(asked ?? { sql: '', values: [] }).filter((line) => /people|TEMP/.test(line))
}

const find = (read: Partial<Read>) =>
  planOf((collection) => collection.find(reading(everything, read)))

describe('An index serves', () => {
  const here = where('tenant', 'eq', 't')
  const id = newId()

  it.each<[string, Partial<Read>, string]>([
    ['a read by id', { filter: where('_id', 'eq', id), sort: [] }, '(_id=?)'],
    ['ids in a list', { filter: among('_id', 'in', id, newId()) }, '(_id=?)'],
    [
      'a unique field',
      { filter: where('email', 'eq', 'x'), sort: [] },
      'unique ["email"] (<expr>=?)',
    ],
    [
      'a filter and its order',
      { filter: here, sort: keys('-age', '_id') },
      '["tenant","-age"] (<expr>=?)',
    ],
    [
      'a range and its order',
      { filter: where('age', 'gt', 5), sort: keys('-age', '_id') },
      '["-age"] (<expr>>?)',
    ],
  ])('%s, and nothing is sorted', async (_, read, served) => {
    const plan = await find(read)
    expect(plan.join('\n')).toContain(served)
    expect(plan.join('\n')).not.toMatch(/SCAN people|TEMP/)
  })

  it.each<[string, Partial<Read>]>([
    ['without an order', { sort: [] }],
    ['by id', { sort: keys('_id') }],
    ['in another order', { sort: keys('-score', '_id') }],
  ])('each of two alternatives, %s', async (_, read) => {
    const filter = any([where('email', 'eq', 'x'), where('name', 'eq', 'y')])
    const plan = (await find({ ...read, filter })).join('\n')
    expect(plan).toContain('unique ["email"] (<expr>=?)')
    expect(plan).toContain('index ["name"] (<expr>=?)')
    expect(plan).not.toContain('SCAN people')
  })

  it('an order alone', async () => {
    expect(await find({ sort: keys('-age', '_id') })).toEqual([
      'SCAN people USING INDEX people index ["-age"]',
    ])
    expect(await find({ sort: keys('age', '-_id') })).toEqual([
      'SCAN people USING INDEX people index ["-age"]',
    ])
  })

  it.each<[string, Partial<Read>]>([
    ['descending', { sort: keys('-age', '_id'), after: [5, id] }],
    ['descending, among the nulls', { sort: keys('-age', '_id'), after: [null, id] }],
    ['ascending', { sort: keys('name', '_id'), after: ['x', id] }],
    ['ascending, among the nulls', { sort: keys('name', '_id'), after: [null, id] }],
    ['by id', { sort: keys('_id'), after: [id] }],
    ['by id backwards', { sort: keys('-_id'), after: [id] }],
    ['both directions', { sort: keys('tenant', '-age', '_id'), after: ['t', 5, id] }],
    ['both directions, reversed', { sort: keys('-tenant', 'age', '-_id'), after: ['t', 5, id] }],
    [
      'both directions, nulls before',
      { sort: keys('tenant', '-age', '_id'), after: [null, null, id] },
    ],
    ['three keys', { sort: keys('tenant', 'name', '-score', '_id'), after: ['t', 'n', 5, id] }],
    ['within a filter', { filter: here, sort: keys('-age', '_id'), after: [5, id] }],
    [
      'within a filter, among the nulls',
      { filter: here, sort: keys('-age', '_id'), after: [null, id] },
    ],
  ])('a page behind a position: %s', async (_, read) => {
    const plan = await find(read)
    expect(plan.length).toBeGreaterThan(0)
    for (const line of plan)
      expect(line).toMatch(/^SEARCH people USING (COVERING )?INDEX .*[<>=]\?\)$/)
  })

  it.each<[string, Partial<Read>]>([
    ['descending', { sort: keys('-age', '_id') }],
    ['ascending', { sort: keys('name', '_id') }],
    ['by id', { sort: keys('_id') }],
    ['by id backwards', { sort: keys('-_id') }],
    ['both directions', { sort: keys('tenant', '-age', '_id') }],
    ['both directions, reversed', { sort: keys('-tenant', 'age', '-_id') }],
    ['three keys', { sort: keys('tenant', 'name', '-score', '_id') }],
    ['within a filter', { filter: here, sort: keys('-age', '_id') }],
  ])('a page after a record, which it looks up: %s', async (_, read) => {
    const plan = await find({ ...read, afterRecord: all([here, where('_id', 'eq', id)]) })
    expect(plan.length).toBeGreaterThan(0)
    for (const line of plan)
      expect(line).toMatch(/^SEARCH people USING (COVERING )?INDEX .*[<>=]\?\)$/)
  })

  it('groups, in their order, with all that is computed', async () => {
    const read = {
      by: [{ field: 'tenant' }],
      measures: [{ op: 'count' }, { op: 'max', field: 'age' }] as const,
      sort: [{ column: 0, descending: true }],
      limit: 10,
    }
    const groups = (filter: Filter) =>
      planOf(async (collection) => collection.aggregate?.({ ...read, filter }))
    expect(await groups(everything)).toEqual([
      expect.stringMatching(/^SCAN people USING COVERING INDEX .*\["tenant","-age"\]$/),
    ])
    const [filtered] = await groups(where('tenant', 'eq', 't'))
    expect(filtered).toMatch(/^SEARCH people USING COVERING INDEX .*\(<expr>=\?\)$/)
  })

  it('a count, without reading records', async () => {
    expect(await planOf((collection) => collection.count(here))).toEqual([
      expect.stringMatching(/^SEARCH people USING COVERING INDEX/),
    ])
  })

  it('the record that a write is for', async () => {
    const filter = where('email', 'eq', 'x')
    const plan = await planOf((collection) =>
      collection.update(filter, { set: { age: 1 } }, { expect: { age: 2 } }),
    )
    expect(plan.join('\n')).toContain('unique ["email"] (<expr>=?)')
    expect(plan.join('\n')).not.toContain('SCAN')
  })
})

it('old entries of the log are dropped by their numbers, however many the model has', async () => {
  const file = newFile()
  const logged = { ...people, logged: { model: 'Person', keepMs: 1 } }
  const store = sqliteStore({ path: file })
  await store.prepare([logged])
  await store.close()
  const models = new LoggedModels()
  models.prepared([logged])
  const own = new Connection(file)
  const plan = dropAll({ models }, 1).flatMap((statement) => stepsOf(statement, own))
  own.close()
  expect(plan.filter((line) => /fieldgate_changes /.test(line))).toEqual([
    'SEARCH fieldgate_changes USING INTEGER PRIMARY KEY (rowid>?)',
    'SEARCH fieldgate_changes USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
  ])
})

it('a read of the log ends in time among entries of other models', async () => {
  const file = newFile()
  const logged = { ...people, logged: { model: 'Person', keepMs: 60_000 } }
  const store = sqliteStore({ path: file })
  await store.prepare([logged])
  const inserts = Array.from({ length: 100 }, () => ({ insert: { _id: newId(), name: 'x' } }))
  await store.write?.(inserts.map((insert) => ({ in: logged, by: null, ...insert })))
  const asked = vi.spyOn(Connection.prototype, 'rows')
  await store.changes?.read(undefined, { limit: 2, models: ['Other'] })
  const [statement] = asked.mock.lastCall ?? []
  asked.mockRestore()
  await store.close()
  if (!statement) throw new Error('nothing was asked')
  let isOver = false
  const own = new Connection(file)
  addClock(own.db, () => isOver)
  expect(own.rows(statement)).toHaveLength(1)
  isOver = true
  expect(() => own.rows(statement)).toThrow('time is up')
  own.close()
})
