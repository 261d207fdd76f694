import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { watchWrites } from '../../../adapters/stores/mongodb/copying/watch.ts'
import { withService } from '../../services/shared.ts'

await withService('mongo', ({ url }) => {
  const [watching, writing] = [new MongoClient(url), new MongoClient(url)]
  const name = `watch-${crypto.randomUUID()}`
  const database = writing.db(name)
  const [cities, others] = [database.collection('cities'), database.collection('others')]
  afterAll(async () => {
    await database.dropDatabase()
    await watching.close()
    await writing.close()
  })

  async function watch() {
    const opened = await watchWrites(watching, watching.db(name), ['cities', 'streets'])
    onTestFinished(() => opened?.close())
    return () => opened?.written()
  }

  describe('a watch for writes to MongoDB', () => {
    it('tells of each write, and of each one once', async () => {
      const written = await watch()
      expect(await written()).toBe(false)
      for (let n = 0; n < 30; n += 1) {
        await cities.updateOne({}, { $set: { n } }, { upsert: true })
        expect(await written()).toBe(true)
        expect(await written()).toBe(false)
      }
    })

    it('takes a write that was undone for a write', async () => {
      const written = await watch()
      const { insertedId: _id } = await cities.insertOne({})
      await cities.deleteOne({ _id })
      expect(await written()).toBe(true)
    })

    it('does not take writes before it, nor those to other collections', async () => {
      for (let n = 0; n < 10; n += 1) {
        await cities.insertOne({ n })
        const written = await watch()
        await others.insertOne({ n })
        expect(await written()).toBe(false)
      }
    })

    it.each([
      ['collection', () => cities.drop()],
      ['database', () => database.dropDatabase()],
    ])('takes a dropped %s for a write', async (_, drop) => {
      await cities.insertOne({})
      const written = await watch()
      await drop()
      expect(await written()).toBe(true)
      await cities.insertOne({})
      expect(await written()).toBe(true)
      expect(await written()).toBe(false)
    })
  })
})
