import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { verify } from '../../../extras/contract/index.ts'
import { containing, reading, where } from '../../../extras/contract/store/ask.ts'
import { people, person } from '../../../extras/contract/store/people.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { searches as promised } from '../../../extras/contract/store/searches.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { CollectionSchema, Store } from '../../../src/ports/store/store.ts'
import { seeds } from '../../runs.ts'
import { withService } from '../../services/shared.ts'
import { someWorkloads } from './in-short.ts'
import { searchAmongWrites } from './searches.ts'

await withService('mongo', ({ url }) => {
  const client = new MongoClient(url)
  const databases: string[] = []
  const newDatabase = () => {
    const database = `search-${crypto.randomUUID()}`
    databases.push(database)
    return database
  }
  afterAll(async () => {
    for (const database of databases) await client.db(database).dropDatabase()
    await client.close()
  })
  const indexed = (database: string) => mongoStore({ client, database, searchIndexes: true })

  // The others are promised of MongoDB without them, in mongodb.test.ts: the workload writes in every way.
  verify(
    'MongoDB with search indexes',
    { ...promised, ...someWorkloads(1) },
    {
      open: () => indexed(newDatabase()),
      close: (store) => store.close(),
    },
    { describe, it },
  )

  describe('searchIndexes', () => {
    it.each(seeds(1))(
      'finds what a look at every record finds, whatever was written before (seed %i)',
      async (seed) => {
        const store = indexed(newDatabase())
        await store.prepare([people])
        await searchAmongWrites(new Random(seed), store.collection(people), 600)
      },
      60_000,
    )

    it('looks at few documents for a term that few hold, beside a search of another field', async () => {
      const database = newDatabase()
      const store = indexed(database)
      await store.prepare([people])
      const collection = store.collection(people)
      const names = Array.from({ length: 3000 }, (_, at) => ({
        name: `somebody ${at}`,
        tags: ['x'],
      }))
      await Promise.all(names.map((record) => collection.insert(person(record))))
      await collection.insert(person({ name: 'Wisława', tags: ['Kraków'] }))
      const examined = await examinedBy(client, database, async () => {
        const [one, other] = [containing('name', 'SŁAWA'), containing('tags', 'rakó')]
        expect(await collection.find(reading(one))).toHaveLength(1)
        expect(await collection.count({ op: 'or', filters: [one, other] })).toBe(1)
      })
      // The second time once for each of the two searches.
      expect(examined).toEqual([1, 2])
    })

    it('finds what Mongoose inserts, and gives it grams at the next start', async () => {
      const database = newDatabase()
      const native = client.db(database).collection('people')
      const store = indexed(database)
      await store.prepare([people])
      await native.insertOne({ name: 'Reykjavík', address: { city: 'Þorlákshöfn' } })
      const collection = store.collection(people)
      const finds = async () => {
        expect(await collection.count(containing('name', 'KJAVÍ'))).toBe(1)
        expect(await collection.count(containing('address.city', 'þorl'))).toBe(1)
        expect(await collection.count(containing('name', 'Þorl'))).toBe(0)
      }
      await finds()
      await store.prepare([people])
      await finds()
      expect(await native.countDocuments({ '_grams.name': 'kjavík' })).toBe(1)
      const [found] = await collection.find({ filter: everything, sort: [], limit: 1 })
      expect(Object.keys(found ?? {})).toEqual(['_id', 'name', 'address'])
    })

    it('takes no grams for true that it finds without an index, as a start that was killed leaves them', async () => {
      const database = newDatabase()
      const native = client.db(database).collection('people')
      const codes = Array.from({ length: 20_000 }, (_, at) => String.fromCodePoint(0x4e00 + at))
      const _grams = { name: ['kraków'] }
      await native.insertMany([
        { name: 'Gdańsk', _grams },
        { name: codes.join(''), _grams },
      ])
      const store = indexed(database)
      await store.prepare([people])
      const collection = store.collection(people)
      expect(await collection.count(containing('name', 'gdań'))).toBe(1)
      expect(await collection.count(containing('name', codes.slice(9, 12).join('')))).toBe(1)
      expect(await native.countDocuments({ '_grams.name': 'kraków' })).toBe(0)
    })

    it('finds what stands in a text with very many grams, and still when it has become short', async () => {
      const database = newDatabase()
      const store = indexed(database)
      await store.prepare([people])
      const collection = store.collection(people)
      const codes = Array.from({ length: 20_000 }, (_, at) => String.fromCodePoint(0x4e00 + at))
      const long = person({ name: codes.join('') })
      await collection.insert(long)
      await collection.update(where('_id', 'eq', String(long._id)), { set: { tags: ['Kraków'] } })
      expect(await collection.count(containing('name', codes.slice(900, 904).join('')))).toBe(1)
      await store.prepare([people])
      await collection.update(where('_id', 'eq', String(long._id)), { set: { name: 'Gdańsk' } })
      expect(await collection.count(containing('name', 'GDAŃ'))).toBe(1)
      expect(await collection.count(containing('name', codes.slice(0, 3).join('')))).toBe(0)
    })

    it('leaves nothing behind when it is turned off, and is right when it is turned on again', async () => {
      const database = newDatabase()
      const native = client.db(database).collection('people')
      const open = async (schema: CollectionSchema, store: Store) => {
        await store.prepare([schema])
        return store.collection(schema)
      }
      const first = await open(people, indexed(database))
      const record = person({ name: 'Kraków', tags: ['wawel'] })
      await first.insert(record)

      const without = await open(people, mongoStore({ client, database }))
      await without.update(where('_id', 'eq', String(record._id)), { set: { name: 'Gdańsk' } })
      expect(await native.indexes()).not.toContainEqual(
        expect.objectContaining({ name: expect.stringContaining('search') }),
      )
      expect(await native.countDocuments({ '_grams.name': { $exists: true } })).toBe(0)

      const again = await open({ ...people, searchable: ['name'] }, indexed(database))
      expect(await again.count(containing('name', 'gdań'))).toBe(1)
      expect(await again.count(containing('name', 'krak'))).toBe(0)
      expect(await again.count(containing('tags', 'wawel'))).toBe(1)
    })
  })
})

/** How many documents the database looked at for each read that `work` makes, by its profiler. */
async function examinedBy(
  client: MongoClient,
  database: string,
  work: () => Promise<void>,
): Promise<number[]> {
  const db = client.db(database)
  await db.command({ profile: 2 })
  await work()
  await db.command({ profile: 0 })
  const reads = { $or: [{ 'command.find': 'people' }, { 'command.count': 'people' }] }
  const seen = await db.collection('system.profile').find(reads).sort({ ts: 1 }).toArray()
  return seen.map(({ docsExamined }) => docsExamined as number)
}
