import { expect, it } from 'vitest'
import { Connection } from '../../../adapters/stores/sqlite/connection/connection.ts'
import { Counts } from '../../../adapters/stores/sqlite/connection/counts.ts'
import type { Effect } from '../../../adapters/stores/sqlite/layout/sql.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { among, containing, where } from '../../../extras/contract/store/ask.ts'
import { Oracle } from '../../../extras/contract/store/oracle.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import {
  Random,
  randomChange,
  randomFields,
  randomFilter,
} from '../../../extras/contract/store/random.ts'
import { all, any, everything, type Filter } from '../../../src/ports/store/filter.ts'
import type { Collection } from '../../../src/ports/store/store.ts'
import { newFile } from './file.ts'

it('counts are exact after every write, of this store or of another one on the same file', async () => {
  const random = new Random(7)
  const path = newFile()
  const stores = [sqliteStore({ path }), sqliteStore({ path })]
  for (const store of stores) await store.prepare([people])
  const collections = stores.map((store) => store.collection(people))
  const ages = new Map<string, number>()
  /** Inserts, changes or deletes a record, and notes its age. */
  const write = async (writer: Collection) => {
    const [id = newId()] = random.chance(40) ? [...ages.keys()] : []
    const filter = where('_id', 'eq', id)
    const age = random.below(3)
    if (!ages.has(id)) await writer.insert({ _id: id, age })
    else if (random.chance(50)) await writer.update(filter, { set: { age } })
    else await writer.delete(filter)
    const [found] = await writer.find({ filter, sort: [], limit: 1 })
    if (found) ages.set(id, age)
    else ages.delete(id)
  }
  for (let turn = 0; turn < 600; turn += 1) {
    await write(collections[random.below(2)] as Collection)
    for (const collection of collections) {
      expect(await collection.count(everything)).toBe(ages.size)
      const ones = [...ages.values()].filter((value) => value === 1).length
      expect(await collection.count(where('age', 'eq', 1))).toBe(ones)
      expect(await collection.estimate()).toBe(ages.size)
    }
  }
  for (const store of stores) await store.close()
})

it('counts have in them what was written since, whatever it was', async () => {
  const random = new Random(11)
  const store = sqliteStore({ path: newFile() })
  await store.prepare([people])
  const collection = store.collection(people)
  const oracle = new Oracle([])
  const pick = <T>(items: readonly T[]) => items[random.below(items.length)] as T
  const filters: Filter[] = [
    everything,
    where('age', 'gte', 2),
    among('name', 'in', 'a', 'b', null),
    all([where('member', 'ne', true), where('score', 'lt', 0.3)]),
    any([where('address.city', 'eq', 'a'), where('born', 'lte', new Date(2020, 1))]),
    among('tags', 'nin', 'a', 'b'),
    containing('name', 'a'),
    ...Array.from({ length: 20 }, () => randomFilter(random)),
  ]
  const record = () => {
    const { email, tenant, slug, ...fields } = randomFields(random)
    return { _id: newId(), ...fields }
  }
  const one = () => where('_id', 'eq', String(pick(oracle.all())._id))
  const writes = [
    async () => {
      const change = randomChange(random, false)
      const filter = one()
      await collection.update(filter, change)
      oracle.update(filter, change)
    },
    async () => {
      const change = { set: { score: random.below(3) } }
      await collection.updateMany(where('age', 'gt', 5), change)
      oracle.updateMany(where('age', 'gt', 5), change)
    },
    async () => {
      const filter = one()
      await collection.delete(filter)
      oracle.delete(filter)
    },
    async () => {
      const steps = [
        { in: people, insert: record() },
        { in: people, deleteMany: all([one(), randomFilter(random)]) },
      ]
      await store.write?.(steps)
      oracle.write(steps)
    },
  ]
  for (let turn = 0; turn < 400; turn += 1) {
    const made = record()
    await collection.insert(made)
    oracle.insert(made)
    if (random.chance(60)) await pick(writes)()
    const asked = pick(filters)
    expect(await collection.count(asked), JSON.stringify(asked)).toBe(oracle.count(asked))
  }
  for (const asked of filters) expect(await collection.count(asked)).toBe(oracle.count(asked))
  await store.close()
})

it('a count is not taken again for a record that came or went, or for another field', async () => {
  const connection = new Connection(newFile())
  let asked = 0
  const counts = new Counts({
    quick: (statement) => connection.rows(statement),
    rows() {
      asked += 1
      return [{ count: 7 }]
    },
  })
  const filter = where('name', 'eq', 'x')
  const counted = () => counts.of(people, filter, { sql: 'n', values: [] }, {})
  const wrote = (effect: Effect | undefined, ...docs: string[]) => {
    const written = { rows: docs.map((doc) => ({ doc })), changes: 1 }
    const kept = counts.kept.get(people.name)
    if (kept) counts.written(kept, { sql: 'w', values: docs, ...(effect && { effect }) }, written)
  }
  expect(await counted()).toBe(7)
  wrote({ inserts: 0 }, '{"_id":"1","name":"x"}')
  wrote({ inserts: 0 }, '{"_id":"2","name":"y"}')
  expect(await counted()).toBe(8)
  wrote({ removes: true }, '{"_id":"1","name":"x"}')
  wrote({ changed: ['age'] })
  expect(await counted()).toBe(7)
  expect(asked).toBe(1)
  wrote({ changed: ['name'] })
  expect(await counted()).toBe(7)
  expect(asked).toBe(2)
  wrote(undefined)
  await counted()
  expect(asked).toBe(3)
  connection.close()
})
