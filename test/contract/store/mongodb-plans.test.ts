import { Binary, type Document, Long, MaxKey, MinKey, MongoClient, ObjectId } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { compileFilter, restAfter } from '../../../adapters/stores/mongodb/query/filter.ts'
import { keys } from '../../../extras/contract/store/ask.ts'
import { people } from '../../../extras/contract/store/people.ts'
import { any, type Filter, type Scalar } from '../../../src/ports/store/filter.ts'
import { withService } from '../../services/shared.ts'

const PAGE = 20
const RECORDS = 4000

await withService('mongo', ({ url }) => {
  const database = `plans-${crypto.randomUUID()}`
  const client = new MongoClient(url, { monitorCommands: true })
  const native = client.db(database).collection('people')
  const schema = { ...people, indexes: [keys('age'), keys('-score', 'age')] }
  const ids = Array.from({ length: RECORDS }, () => new ObjectId().toHexString())
  const middle = ids[RECORDS / 2] ?? ''

  beforeAll(async () => {
    const store = mongoStore({ client, database })
    await store.prepare([schema])
    const collection = store.collection(schema)
    await Promise.all(
      ids.map((_id, at) =>
        // Every seventh has no age, the others tie by the dozen.
        collection.insert({ _id, email: `e${at}`, score: at % 5, age: at % 7 ? at % 300 : null }),
      ),
    )
    await store.close()
  })
  afterAll(async () => {
    await client.db(database).dropDatabase()
    await client.close()
  })

  async function examined(query: Document, sort: readonly string[] = []): Promise<number> {
    const order = keys(...sort).map(({ field, descending }) => [field, descending ? -1 : 1])
    const plan = await native
      .find(query)
      .sort(new Map(order as [string, 1 | -1][]))
      .limit(PAGE)
      .explain('executionStats')
    return plan.executionStats.totalDocsExamined
  }

  describe('indexes are used', () => {
    const unique: [string, Filter][] = [
      ['an equality', { op: 'eq', field: 'email', value: 'e5' }],
      ['a list', { op: 'in', field: 'email', values: ['e5', 'e6'] }],
    ]
    it.each(unique)('by %s on a unique field', async (_, filter) => {
      expect(await examined(compileFilter(filter, schema.shape))).toBeLessThanOrEqual(2)
    })

    it.each<string[][]>([[[]], [['_id']], [['-score', '_id']]])(
      'each for its alternative, in the order %j',
      async (sort) => {
        const filter = any([
          { op: 'eq', field: 'email', value: 'e5' },
          { op: 'eq', field: 'age', value: 299 },
        ])
        const most = 1 + RECORDS / 100
        expect(await examined(compileFilter(filter, schema.shape), sort)).toBeLessThan(most)
      },
    )

    const turned: [string, Document, string[]][] = [
      ['an equality, the newest first', { age: null }, ['-_id']],
      ['an order, turned with its ids', {}, ['-age', '-_id']],
      [
        'an order that begins with a fixed field, turned with its ids',
        { score: 3 },
        ['-age', '-_id'],
      ],
    ]
    it.each(turned)('backwards, as the advice at start-up says: %s', async (_, query, sort) => {
      expect(await examined(query, sort)).toBeLessThanOrEqual(PAGE)
    })

    const positions: [string[], Scalar[]][] = [
      [['_id'], [middle]],
      [['-_id'], [middle]],
      [
        ['age', '_id'],
        [150, middle],
      ],
      [
        ['age', '_id'],
        [null, middle],
      ],
      [
        ['-age', '-_id'],
        [150, middle],
      ],
      [
        ['-age', '-_id'],
        [null, middle],
      ],
      [
        ['-score', 'age', '_id'],
        [3, 150, middle],
      ],
      [
        ['-score', 'age', '_id'],
        [3, null, middle],
      ],
      [
        ['score', '-age', '-_id'],
        [3, 150, middle],
      ],
    ]
    it.each(positions)('by a page in the order of %j from %j', async (sort, position) => {
      const query = restAfter({}, keys(...sort), position, schema.shape)
      expect(await examined(query, sort)).toBeLessThanOrEqual(3 * PAGE)
    })

    it('by a count of all records, whatever ids other programs have stored', async () => {
      const others = { ...people, name: 'others' }
      const ids = [1, 1.5, Long.MAX_VALUE, 'a', null, true, new Date(), { a: 1 }]
      const rare = [new ObjectId(), new MinKey(), new MaxKey(), new Binary(Buffer.from('a')), NaN]
      const documents = [...ids, ...rare].map((_id) => ({ _id }) as Document)
      const target = client.db(database).collection('others')
      await target.insertMany(documents)
      const sent: Document[] = []
      client.on('commandStarted', ({ command }) => sent.push(command))
      const collection = mongoStore({ client, database }).collection(others)
      expect(await collection.count({ op: 'and', filters: [] })).toBe(documents.length)
      expect(sent).toContainEqual(expect.objectContaining({ count: 'others' }))
      const { query } = sent.find(({ count }) => count === 'others') ?? {}
      const { executionStats } = await target.find(query).hint({ _id: 1 }).explain('executionStats')
      expect(executionStats.totalKeysExamined).toBe(documents.length)
    })
  })
})
