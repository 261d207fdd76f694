import { MongoClient } from 'mongodb'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import { everything } from '../../../src/ports/store/filter.ts'
import type { Fields, Projection } from '../../../src/ports/store/records.ts'
import { withService } from '../../services/shared.ts'

await withService('mongo', ({ url }) => {
  const database = `round-trips-${crypto.randomUUID()}`
  const client = new MongoClient(url, { monitorCommands: true })
  const commands: string[] = []
  client.on('commandStarted', ({ commandName }) => commands.push(commandName))
  const store = mongoStore({ client, database })
  const collection = store.collection(people)
  const ids = [newId(), newId(), newId()]
  const [first = '', second = ''] = ids

  function byId(id: string, select?: Projection): Promise<Fields[]> {
    const filter = { op: 'eq', field: '_id', value: id } as const
    return collection.find({ filter, sort: [], limit: 1, ...(select && { select }) })
  }

  beforeEach(async () => {
    await client.db(database).dropDatabase()
    await store.prepare([people])
    commands.length = 0
  })
  afterAll(async () => {
    await client.db(database).dropDatabase()
    await store.close()
    await client.close()
  })

  describe('calls at the same time', () => {
    it('are one insert and one find, each call with its own answer', async () => {
      await Promise.all(ids.map((_id, age) => collection.insert({ _id, age })))
      const found = await Promise.all([...ids, newId()].map((id) => byId(id)))
      expect(found).toEqual([...ids.map((_id, age) => [{ _id, age }]), []])
      expect(commands).toEqual(['insert', 'find'])
    })

    it('give each reader of one record a copy of its own', async () => {
      await collection.insert({ _id: first, tags: ['a'] })
      const [[one], [other]] = await Promise.all([byId(first), byId(first)])
      expect(one).toEqual(other)
      expect(one).not.toBe(other)
      expect(one?.tags).not.toBe(other?.tags)
    })

    it('for the same list are one find, and apart from others', async () => {
      const born = new Date(0)
      await Promise.all(ids.map((_id, age) => collection.insert({ _id, age, born })))
      commands.length = 0
      const texts = (field: string, value: string | number | Date) =>
        collection.findJson?.({
          filter: { op: 'eq', field, value },
          sort: [{ field: '_id', descending: false }],
          limit: 10,
        })
      const lists = await Promise.all([
        texts('age', 1),
        texts('age', 1),
        texts('age', 2),
        texts('any', born),
        texts('any', born.toISOString()),
      ])
      expect(commands).toEqual(['find', 'find', 'find', 'find'])
      const text = (at: number) => [`{"_id":"${ids[at]}","age":${at},"born":"${born.toJSON()}"}`]
      expect(lists).toEqual([text(1), text(1), text(2), [], []])
    })

    it('go apart where they read other fields', async () => {
      await collection.insert({ _id: first, name: 'a', age: 1 })
      const found = await Promise.all([
        byId(first, { include: ['name'] }),
        byId(first, { exclude: ['name'] }),
      ])
      expect(found).toEqual([[{ _id: first, name: 'a' }], [{ _id: first, age: 1 }]])
    })

    it('fail alone, with the error that each would have had alone', async () => {
      const records = [
        { _id: first, email: 'a' },
        { _id: second, email: 'a' },
        { _id: first },
        { _id: newId(), email: 'b' },
      ]
      const results = await Promise.allSettled(records.map((record) => collection.insert(record)))
      // Which of two comes first is the database's to say.
      const written = records.filter((_, at) => results[at]?.status === 'fulfilled')
      for (const [at, record] of records.entries()) {
        const result = results[at]
        const clashes = (['_id', 'email'] as const).filter((field) =>
          written.some((one) => one !== record && record[field] && one[field] === record[field]),
        )
        if (result?.status === 'fulfilled') expect(clashes).toEqual([])
        else expect(clashes).toEqual(expect.arrayContaining(result?.reason.fields))
      }
      expect(await collection.count(everything)).toBe(written.length)
    })

    it('fail alone where one of them cannot be written at all', async () => {
      const records = [{ _id: first }, { _id: newId(), any: { 'no\0key': 1 } }, { _id: second }]
      const results = await Promise.allSettled(records.map((record) => collection.insert(record)))
      expect(results).toMatchObject([
        { status: 'fulfilled' },
        { reason: { message: 'the database refused the operation' } },
        { status: 'fulfilled' },
      ])
      expect(await collection.count(everything)).toBe(2)
    })

    it('are finished when the store is closed, and none begins after', async () => {
      const closing = mongoStore({ client, database })
      const inserted = closing.collection(people).insert({ _id: first })
      await closing.close()
      await inserted
      expect(await byId(first)).toEqual([{ _id: first }])
      await expect(closing.collection(people).insert({ _id: second })).rejects.toThrow(/closed/)
    })

    it('see what was answered before', async () => {
      for (let age = 0; age < 50; age += 1) {
        const _id = newId()
        await collection.insert({ _id, age })
        const reads = [byId(_id), byId(first), byId(_id)]
        expect((await Promise.all(reads)).flat()).toEqual([
          { _id, age },
          { _id, age },
        ])
      }
    })
  })
})
