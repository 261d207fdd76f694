import { Decimal128, MongoClient } from 'mongodb'
import { onTestFinished } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { shop } from './books.ts'
import { type Cases, each } from './case.ts'

/** What is in the database of the MongoDB at `url`. */
export const database = (url: string): Cases => ({
  'the indexes after a start': {
    row: 'Mongoose makes the indexes of its schemas',
    asks: async () => {
      const { books, served } = await besides(url)
      await books.createIndex({ code: 1 }, { unique: true, sparse: true })
      await served()
      const names = (await books.indexes()).map(({ name = '' }) => name)
      return names.filter((name) => name.includes('code')).sort()
    },
    there: ['code_1'],
    here: ['code_1', 'unique(code)'],
  },
  'a Decimal128': {
    row: 'Decimal128, Long, Buffer and UUID are shown as such',
    asks: async () => {
      const { books, served } = await besides(url)
      const { get } = await served()
      await books.insertOne({ title: 'old', year: Decimal128.fromString('19.90') })
      return each(get('/books?title=old'), 'year')
    },
    there: [{ $numberDecimal: '19.90' }],
    here: [19.9],
  },
})

/** The collection of books in a database of its own, and the app over it. */
async function besides(url: string) {
  const name = `recorded-${crypto.randomUUID()}`
  const client = new MongoClient(url)
  onTestFinished(async () => {
    await client.db(name).dropDatabase()
    await client.close()
  })
  const books = client.db(name).collection('recordedbooks')
  return { books, served: () => shop({}, { store: mongoStore({ url, database: name }) }) }
}
