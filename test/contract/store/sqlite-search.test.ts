import { expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { searchIndexOf } from '../../../adapters/stores/sqlite/search/full-text.ts'
import { containing, keys, where } from '../../../extras/contract/store/ask.ts'
import { people, person } from '../../../extras/contract/store/people.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Collection, CollectionSchema } from '../../../src/ports/store/store.ts'
import { seeds } from '../../runs.ts'
import { newFile, rowsOf } from './file.ts'
import { searchAmongWrites } from './searches.ts'

it.each(seeds(1))(
  'search finds what a look at every record finds, whatever was written before (seed %i)',
  async (seed) => {
    const path = newFile()
    const store = sqliteStore({ path })
    await store.prepare([people])
    await searchAmongWrites(new Random(seed), store.collection(people), 1500)
    const taken = rowsOf(path, `SELECT count(*) AS n FROM ${searchIndexOf(people).index}`)[0]?.n
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
  const taken = () => rowsOf(path, `SELECT count(*) AS n FROM ${searchIndexOf(people).index}`)[0]?.n
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

it('drops what is its own alone: not the index of another collection, nor what somebody else has made', async () => {
  const path = newFile()
  const [one, other] = ['user', 'user searches'].map((name) => ({ ...people, name })) as [
    CollectionSchema,
    CollectionSchema,
  ]
  const store = sqliteStore({ path })
  await store.prepare([one, other])
  const theirs = {
    'user search by hand': 'CREATE VIRTUAL TABLE "user search by hand" USING fts5(a)',
    'user search': 'CREATE TABLE "user search" (a)',
    'user unsearched': 'CREATE TABLE "user unsearched" (a)',
    'user unique [lower(email)]':
      'CREATE UNIQUE INDEX "user unique [lower(email)]" ON user (shape, rowid)',
    'user index [by hand': 'CREATE INDEX "user index [by hand" ON user (shape)',
    'user search noted':
      'CREATE TRIGGER "user search noted" AFTER DELETE ON user BEGIN SELECT 1; END',
    report: 'CREATE VIEW report AS SELECT * FROM gone',
  }
  for (const sql of Object.values(theirs)) rowsOf(path, sql)
  const silent = { ...one, searchable: ['name'] }
  const again = sqliteStore({ path })
  const warnings: string[] = []
  await again.prepare([silent, other], (message) => warnings.push(message))
  expect(warnings).toEqual([])
  const dropped = (await again.dropLeftOvers?.([silent, other])) ?? []
  expect(dropped.map(({ collection }) => collection)).toEqual(dropped.map(() => 'user'))
  const left = rowsOf(path, 'SELECT name FROM sqlite_master').map(({ name }) => name)
  expect(left).toEqual(expect.arrayContaining(Object.keys(theirs)))
  for (const schema of [silent, other]) {
    await again.collection(schema).insert(person({ name: 'Kraków' }))
    expect(await again.collection(schema).count(containing('name', 'RAKÓ'))).toBe(1)
  }
  for (const one of [store, again]) await one.close()
})

it('a search fills what another version has left out, and misses nothing', async () => {
  const path = newFile()
  const bare = { ...people, searchable: [] }
  const [theirs, ours] = [sqliteStore({ path }), sqliteStore({ path })]
  await ours.prepare([people])
  await theirs.prepare([bare])
  const names = Array.from({ length: 300 }, (_, at) => `NAME ${at}`)
  const insertAll = () =>
    Promise.all(names.map((name) => theirs.collection(bare).insert(person({ name }))))
  const collection = ours.collection(people)
  await insertAll()
  const two = { filter: containing('name', 'ame 2'), sort: here, limit: 500 }
  expect(await collection.find(two)).toHaveLength(111)
  expect(await collection.count(containing('name', 'name'))).toBe(300)
  await insertAll()
  const steps = [
    { in: people, updateMany: containing('name', 'name 29'), change: { set: { age: 1 } } },
  ]
  expect(await ours.write?.(steps)).toMatchObject({ results: [{ count: 22 }] })
  for (const store of [theirs, ours]) await store.close()
})

it('an app that only reads merges what others write', async () => {
  const path = newFile()
  const [writer, reader] = [people, { ...people, searchable: ['name'] }]
  const [theirs, ours] = [sqliteStore({ path }), sqliteStore({ path })]
  await theirs.prepare([writer])
  await ours.prepare([reader])
  const left = () =>
    Number(rowsOf(path, `SELECT count(*) AS n FROM ${searchIndexOf(reader).notes}`)[0]?.n)
  await Promise.all(many.map((record) => theirs.collection(writer).insert(person(record))))
  expect(left()).toBe(many.length)
  await ours
    .collection(reader)
    .find({ filter: containing('name', 'common 7'), sort: here, limit: 1 })
  await expect.poll(left).toBe(0)
  for (const store of [theirs, ours]) await store.close()
})
