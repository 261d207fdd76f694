import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { searchNames } from '../../../adapters/stores/sqlite/search.ts'
import { containing, keys, where } from '../../../src/contract/store/ask.ts'
import { people, person } from '../../../src/contract/store/people.ts'
import { Random } from '../../../src/contract/store/random.ts'
import { everything } from '../../../src/ports/filter.ts'
import type { Collection, CollectionSchema } from '../../../src/ports/store.ts'
import { newFile, rowsOf } from './file.ts'
import { searchAmongWrites } from './searches.ts'

it.each([1, 2, 3, 4])(
  'search finds what a look at every record finds, whatever was written before (seed %i)',
  async (seed) => {
    const path = newFile()
    const store = sqliteStore({ path })
    await store.prepare([people])
    await searchAmongWrites(new Random(seed), store.collection(people), 1500)
    const taken = rowsOf(path, `SELECT count(*) AS n FROM ${searchNames(people).index}`)[0]?.n
    // Otherwise all was found among the rows that wait to be taken over.
    expect(Number(taken)).toBeGreaterThan(200)
    await store.close()
  },
)

const here = keys('name', '_id')
const many = Array.from({ length: 1500 }, (_, at) => ({ name: `common ${at}` }))

it('a term that many records hold is found in order, page by page', async () => {
  const store = sqliteStore()
  await store.prepare([people])
  const collection = store.collection(people)
  await Promise.all(many.map((record) => collection.insert(person(record))))
  const common = containing('name', 'COMMON')
  const first = await collection.find({ filter: common, sort: here, limit: 2 })
  expect(first.map(({ name }) => name)).toEqual(['common 0', 'common 1'])
  expect(await collection.count(common)).toBe(1500)
  expect(await collection.updateMany(common, { set: { age: 1 } })).toBe(1500)
  expect(await collection.count(where('age', 'eq', 1))).toBe(1500)
  await store.close()
})

it('what another process has written is found, before and after it is taken over', async () => {
  const path = newFile()
  const [mine, theirs] = [sqliteStore({ path }), sqliteStore({ path })]
  for (const store of [mine, theirs]) await store.prepare([people])
  await theirs.collection(people).insert(person({ name: 'Reykjavík' }))
  const collection = mine.collection(people)
  expect(await collection.count(containing('name', 'KJAVÍ'))).toBe(1)
  await theirs.close()
  await mine.prepare([people])
  const taken = () => rowsOf(path, `SELECT count(*) AS n FROM ${searchNames(people).index}`)[0]?.n
  await expect.poll(taken).toBe(1)
  expect(await collection.count(containing('name', 'KJAVÍ'))).toBe(1)
  await mine.close()
})

it('a model that searches other fields has an index of its own, until the others are dropped', async () => {
  const path = newFile()
  const model = (...searchable: string[]): CollectionSchema => ({ ...people, searchable })
  const open = async <T>(schema: CollectionSchema, work: (found: Collection) => Promise<T>) => {
    const store = sqliteStore({ path })
    await store.prepare([schema])
    const result = await work(store.collection(schema))
    await store.dropLeftOvers?.([schema])
    await store.close()
    return result
  }
  const made = () =>
    rowsOf(path, "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%fts5(%'")
  await open(model('name'), (found) => found.insert(person({ name: 'Kraków', tags: ['wawel'] })))
  expect(
    await open(model('name', 'tags'), (found) => found.count(containing('tags', 'WAWEL'))),
  ).toBe(1)
  expect(await open(model('tags'), (found) => found.count(containing('tags', 'wawel')))).toBe(1)
  expect(made()).toEqual([{ name: 'people search ["~tags[]."]' }])
  // A script that searches nothing leaves what the app searches.
  expect(await open(model(), (found) => found.count(everything))).toBe(1)
  expect(made()).toHaveLength(1)
})
