import { MongoClient } from 'mongodb'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { withService } from '../../services/shared.ts'
import { gate, served } from './gate.ts'

await withService('mongo', ({ url }) => {
  gate('MongoDB', async () => {
    const database = `timing-${crypto.randomUUID()}`
    const opened = await served(mongoStore({ url, database }))
    const close = async () => {
      await opened.close()
      const client = new MongoClient(url)
      await client.db(database).dropDatabase()
      await client.close()
    }
    return { ...opened, close }
  })
})
