import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import {
  executorStore,
  type SqliteResult,
  type SqliteStatement,
} from '../../../adapters/stores/sqlite/calls/executor.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { withId } from '../../../src/ports/store/filter.ts'

const schema = { ...people, unique: [], searchable: [] }
const _id = 'a'.repeat(24)

it.each([
  ['stays', false],
  ['is changed between the look and the write', true],
])(
  'a record that another program has written in another order holds what is expected if it %s',
  async (_, isChanged) => {
    const db = new DatabaseSync(':memory:')
    const store = executorStore({
      name: 'calls',
      title: 'calls',
      run: async (statement) => run(statement),
      batch: async (statements) => statements.map(run),
    })
    function run({ sql, values }: SqliteStatement): SqliteResult {
      const rows = db.prepare(sql).all(...values) as SqliteResult['rows']
      if (isChanged && sql.startsWith('SELECT doc')) write('{"city":"other"}')
      return { rows, changes: rows.length }
    }
    function write(address: string): void {
      db.prepare(`UPDATE people SET doc = json_set(doc, '$.address', json(?1))`).run(address)
    }

    await store.prepare([schema])
    const collection = store.collection(schema)
    await collection.insert({ _id, name: 'a' })
    // The same address, in another order.
    db.exec(
      `UPDATE people SET doc = '{"_id":"${_id}","name":"a","address":{"zip":"1","city":"b"}}'`,
    )
    const options = { expect: { address: { city: 'b', zip: '1' } } }
    const written = await collection.update(withId(_id), { set: { name: 'c' } }, options)
    expect(written?.name).toBe(isChanged ? undefined : 'c')
    const [found] = await collection.find({ filter: withId(_id), sort: [], limit: 1 })
    expect(found).toMatchObject(
      isChanged ? { name: 'a', address: { city: 'other' } } : { name: 'c' },
    )
  },
)
