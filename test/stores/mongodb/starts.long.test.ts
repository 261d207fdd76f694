import { type Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'
import { prepareCollection } from '../../../adapters/stores/mongodb/schema/schema.ts'
import { defineModel } from '../../../src/index.ts'
import { collectionSchema } from '../../../src/model/collection-schema.ts'
import { IndexConflict } from '../../../src/ports/store/store-errors.ts'
import { type ReplicaSet, startReplicaSet } from '../../services/replica-set.ts'

const Person = defineModel('StartedPerson', {
  fields: { email: z.string() },
  unique: ['email'],
  collection: 'people',
})
const exact = collectionSchema(Person as never)
const loose = {
  ...exact,
  collations: [{ fields: ['email'], collation: { locale: 'en', strength: 2 } }],
}

let set: ReplicaSet
let client: MongoClient

beforeAll(async () => {
  set = await startReplicaSet(1, { parameters: ['enableTestCommands=1'] })
  client = new MongoClient(set.url)
}, 60_000)

afterAll(async () => {
  await client?.close()
  await set?.stop()
})

it('an index of another version that is still being built is no rule yet', async () => {
  const stores = [0, 1].map(() => mongoStore({ client, database: 'two-versions' }))
  const people = client.db('two-versions').collection<Document>('people')
  await people.insertMany([{ email: 'a' }, { email: 'A' }])
  const hang = { configureFailPoint: 'hangAfterStartingIndexBuild' }
  const member = await set.primary()
  await member.command({ ...hang, mode: 'alwaysOn' })
  const clashing = stores[0]?.prepare([loose])
  const ended = expect(clashing).rejects.toThrow(IndexConflict)
  await vi.waitFor(async () => expect(await people.indexes()).toHaveLength(2), { timeout: 20_000 })
  let isReady = false
  const ready = stores[1]?.prepare([exact]).then(() => {
    isReady = true
  })
  await vi.waitFor(
    async () => {
      const { inprog } = await member.command({ currentOp: 1, 'command.createIndexes': 'people' })
      expect(inprog.length > 1 || isReady).toBe(true)
    },
    { timeout: 20_000 },
  )
  await member.command({ ...hang, mode: 'off' })
  await Promise.all([ended, ready])
  await expect(people.insertOne({ email: 'a' })).rejects.toMatchObject({ code: 11000 })
})

it('is ready only when its index is, though MongoDB says that it exists once another process has begun it', async () => {
  const people = client.db('begun').collection<Document>('people')
  let asked = 0
  const native = new Proxy(people, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      // As the server does, for two calls at the same moment.
      if (name === 'createIndex' && asked++ === 0) return async () => 'unique(email)'
      return value.bind(target)
    },
  })
  await prepareCollection({ schema: exact, native, indexed: () => undefined } as never, () => {})
  expect((await people.indexes()).map((index) => index.name)).toContain('unique(email)')
})

it.each(['system.users', 'a$b', 'a\0', '.people', 'people.', 'é'.repeat(130)])(
  'refuses a name that MongoDB does not take, with the reason: %o',
  async (name) => {
    const store = mongoStore({ client, database: 'names' })
    await expect(store.prepare([{ ...exact, name, unique: [] }])).rejects.toThrow(
      /: MongoDB takes no name .* Give the model another 'collection'$/s,
    )
  },
)

it('takes a name of 255 bytes with that of the database', async () => {
  const name = 'a'.repeat(255 - 'names.'.length)
  await mongoStore({ client, database: 'names' }).prepare([{ ...exact, name, unique: [] }])
  await client.db('names').collection(name).insertOne({})
  await expect(client.db('names').collection(`${name}a`).insertOne({})).rejects.toThrow('too long')
})
