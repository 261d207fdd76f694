import { MongoClient } from 'mongodb'
import { expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { newId, people } from '../../../extras/contract/store/people.ts'
import { withService } from '../../services/shared.ts'
import { freshDatabases } from './databases.ts'

/** Of these, no write drops an entry; a start with the others does. */
const kept = { ...people, logged: { model: 'Person', keepMs: Number.POSITIVE_INFINITY } }
const brief = { ...people, logged: { model: 'Person', keepMs: 1 } }

await withService('mongo', ({ url }) => {
  const fresh = freshDatabases(url)

  it('what a process was about to drop when it died is dropped by the next one', async () => {
    const database = fresh()
    const store = mongoStore({ url, database })
    const client = new MongoClient(url)
    const entries = client.db(database).collection<{ _id: number }>('fieldgate_changes')
    const log = client.db(database).collection<{ _id: string }>('fieldgate_change_log')
    const insert = () =>
      store.write?.([{ in: kept, by: null, insert: { _id: newId(), name: 'x' } }])
    await store.prepare([kept])
    for (let count = 0; count < 3; count += 1) await insert()
    const [last] = await entries.find().sort({ _id: -1 }).limit(1).toArray()
    // It has noted what it drops, and removed nothing.
    const noted = { number: last?._id, at: 1, from: 0 }
    await log.updateOne({ _id: 'dropped Person' }, { $set: noted }, { upsert: true })
    await insert()
    await expect
      .poll(async () => {
        await store.prepare([brief])
        return entries.countDocuments()
      })
      .toBe(0)
    await client.close()
    await store.close()
  })

  it('old entries are looked for where the last dropping has ended, not from the beginning', async () => {
    const database = fresh()
    const store = mongoStore({ url, database })
    const client = new MongoClient(url)
    const entries = client.db(database).collection<{ _id: number }>('fieldgate_changes')
    const log = client
      .db(database)
      .collection<{ _id: string; from: number }>('fieldgate_change_log')
    const insert = () =>
      store.write?.([{ in: kept, by: null, insert: { _id: newId(), name: 'x' } }])
    await store.prepare([kept])
    await insert()
    const first = (await entries.findOne())?._id ?? 0
    // As if it had been removed: an entry that is still there shows where a dropping begins.
    const noted = { number: first, at: 1, from: first }
    await log.updateOne({ _id: 'dropped Person' }, { $set: noted }, { upsert: true })
    await insert()
    const left = async () => {
      await store.prepare([brief])
      return entries.find().toArray()
    }
    await expect.poll(left, { timeout: 6000 }).toMatchObject([{ _id: first }])
    const mark = async () => (await log.findOne({ _id: 'dropped Person' }))?.from
    await expect.poll(mark).toBeGreaterThan(first)
    await client.close()
    await store.close()
  })
})
