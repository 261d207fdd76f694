import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { withService } from '../services/shared.ts'
import { started } from './run.ts'

await withService('mongo', ({ url }) => {
  it('examples/deno-mongodb.ts finds cities by the name of their country', async () => {
    const place = new URL(url)
    place.pathname = `/example-${crypto.randomUUID()}`
    onTestFinished(async () => {
      const client = new MongoClient(place.href)
      await client.db().dropDatabase()
      await client.close()
    })
    const send = await started('deno-mongodb', 'deno', { MONGODB_URL: place.href })
    const { status, body } = await send('POST', '/countries', { code: 'BR', name: 'Brazil' })
    expect(status).toBe(201)
    expect((await send('POST', '/countries', { code: 'BR', name: 'Brasil' })).status).toBe(409)
    const country = body.data._id
    for (const [name, population] of [
      ['Rio de Janeiro', 6_211_223],
      ['São Paulo', 11_451_999],
    ])
      expect((await send('POST', '/cities', { name, population, country })).status).toBe(201)
    const found = await send('GET', '/cities?s=brazil&sort=-population')
    expect(found.body.data).toMatchObject([
      { name: 'São Paulo', country: { code: 'BR', name: 'Brazil' } },
      { name: 'Rio de Janeiro' },
    ])
  })
})
