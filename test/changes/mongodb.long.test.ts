import { Decimal128, type Document, Long, MongoClient, ObjectId } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { ref } from '../../src/index.ts'
import { withService } from '../services/shared.ts'
import { freshDatabases } from '../stores/mongodb/databases.ts'
import { changes } from './changes.ts'
import { meanwhile } from './meanwhile.ts'
import { type Database, serve, type Version } from './served.ts'

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)
  const database: Database = async () => {
    const name = fresh()
    return () => mongoStore({ url, database: name })
  }

  /** A collection of another program, and an app over it. */
  async function adopted(documents: Document[], version: Version, validator?: Document) {
    const name = `changes-${crypto.randomUUID()}`
    const client = await MongoClient.connect(url)
    const things = client.db(name).collection('things')
    onTestFinished(() => client.close())
    onTestFinished(async () => void (await client.db(name).dropDatabase()))
    await things.insertMany(documents)
    if (validator) await client.db(name).command({ collMod: 'things', validator })
    const stored = () => things.find({}, { promoteValues: false, sort: { name: 1 } }).toArray()
    return { stored, now: serve(() => mongoStore({ url, database: name }), version) }
  }

  it('MongoDB: a value that moves to another name keeps its types', async () => {
    const price = Decimal128.fromString('0.1234567890123456789')
    const lines = [{ _id: new ObjectId(), sku: 'x', item: new ObjectId(), sum: price }]
    const { stored, now } = await adopted(
      ['a', 'b'].map((name) => ({
        name,
        price,
        lines,
        big: Long.MAX_VALUE,
        by: String(lines[0]?._id),
      })),
      {
        fields: {
          name: z.string(),
          ...{ amount: z.number(), rows: z.array(z.object({ sku: z.string() })) },
          ...{ huge: z.number(), owner: ref('Thing') },
        },
        options: { renamed: { price: 'amount', lines: 'rows', big: 'huge', by: 'owner' } },
      },
    )
    const [first] = await stored()
    expect((await now.call('PATCH', `/things/${first?._id}`, { name: 'aa' })).status).toBe(200)
    expect(await now.backfill()).toMatchObject({ models: [{ changed: 1 }] })
    const moved = { amount: price, rows: lines, huge: Long.MAX_VALUE, owner: lines[0]?._id }
    expect(await stored()).toEqual(
      ['aa', 'b'].map((name) => ({ _id: expect.any(ObjectId), name, ...moved })),
    )
  })

  it('MongoDB: a backfill leaves NaN alone', async () => {
    const { now } = await adopted([{ name: 'a', n: Number.NaN }], {
      fields: { name: z.string(), n: z.number() },
    })
    expect(await now.backfill()).toMatchObject({ models: [{ records: 1, changed: 0 }] })
  })

  it('MongoDB: a backfill tells of records that the database refuses, and goes on', async () => {
    const { now } = await adopted(
      [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
      { fields: { name: z.string(), size: z.string().default('m') } },
      { $nor: [{ name: 'b', size: 'm' }] },
    )
    const [, refused] = (await now.call('GET', '/things?sort=name')).data as unknown as Document[]
    expect(await now.backfill()).toMatchObject({
      ok: false,
      models: [{ records: 3, changed: 2 }],
      problems: [{ problem: 'invalid', field: 'size', count: 1, examples: [refused?._id] }],
    })
  })

  changes('MongoDB', database)
  meanwhile('MongoDB', database)
})
