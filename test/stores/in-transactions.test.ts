import { expect, it } from 'vitest'
import { type Records, type Transaction, writesIn } from '../../adapters/stores/sql/index.ts'
import { withId } from '../../src/ports/store/filter.ts'
import type { CollectionSchema } from '../../src/ports/store/store.ts'

const schema = { name: 'notes' } as CollectionSchema

/** The record 'a' in transactions whose first run is taken back, as after a deadlock; it is another one in the second. */
const runTwice: Transaction = async (work) => {
  const run = (tries: number) => {
    const records: Partial<Records> = {
      find: async (filter) =>
        'value' in filter && filter.value === 'a' ? [{ _id: 'a', tries }] : [],
      replace: async () => {},
    }
    return work(() => records as Records)
  }
  await run(1).catch(() => {})
  return run(2)
}

it('a transaction that is run again has the results of its last run', async () => {
  const { write, writesOf } = writesIn(runTwice)
  const change = { set: { name: 'new' } }
  expect(await writesOf(schema).update(withId('a'), change)).toMatchObject({ tries: 2 })
  const step = { in: schema, update: withId('a'), change }
  const outcome = await write([step, step])
  expect('results' in outcome && outcome.results.map(({ count }) => count)).toEqual([1, 1])
  expect(await write([step, { ...step, update: withId('none') }])).toEqual({ failed: 1 })
})
