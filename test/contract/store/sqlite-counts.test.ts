import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { where } from '../../../src/contract/store/ask.ts'
import { newId, people } from '../../../src/contract/store/people.ts'
import { Random } from '../../../src/contract/store/random.ts'
import { everything } from '../../../src/ports/filter.ts'
import type { Collection } from '../../../src/ports/store.ts'
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
