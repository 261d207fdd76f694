/**
 * The records in MongoDB: that of `MONGODB_URI`, or a replica set of one member that lives as long as the run.
 *
 * @module
 */

import { type Collection, type Db, type Document, MongoClient, ObjectId } from 'mongodb'
import { startReplicaSet } from '../../test/services/replica-set.ts'
import { Order, Product } from '../fieldgate/app.ts'
import { accountsOf } from './accounts.ts'
import { type Asked, askedOf } from './asked.ts'
import {
  cursorOf,
  type Database,
  type Databases,
  isOnServer,
  type Owner,
  prepareFieldgate,
} from './database.ts'
import { CREATED, order, PRODUCTS_PER_ORDER, product } from './products.ts'

/** Starts MongoDB, with memory for a million records. */
export async function mongoServer(): Promise<Databases> {
  const given = process.env.MONGODB_URI
  const own = given ? undefined : await startReplicaSet(1)
  await own?.members[0]?.command({
    setParameter: 1,
    wiredTigerEngineRuntimeConfig: 'cache_size=1G',
  })
  const url = given ?? own?.url ?? ''
  return {
    database: (size, wanted) => mongoDatabase(url, size, wanted),
    stop: async () => own?.stop(),
  }
}

async function mongoDatabase(
  url: string,
  size: number,
  wanted: readonly Owner[],
): Promise<Database> {
  const owners = wanted.filter(isOnServer)
  const client = new MongoClient(url)
  const asked = askedOf(size)
  const name = (owner: Owner) => `fieldgate-bench-${owner}-${size}`
  const place = (owner: Owner) => {
    const address = new URL(url)
    address.pathname = `/${name(owner)}`
    return address.href
  }
  const all = owners.map((owner) => client.db(name(owner)))
  for (const db of all) await fill(db, size)
  if (owners.includes('peers')) await completePeers(client.db(name('peers')), asked)
  await prepareFieldgate(place('fieldgate'), asked)
  // Else the next checkpoint would write it all while the first work is measured.
  await client.db('admin').command({ fsync: 1 })
  return {
    asked,
    cursor: await cursorOf(asked),
    owners,
    place,
    async tidy() {
      for (const db of all) {
        await db.collection(Product.collection).deleteMany({ category: CREATED })
      }
    },
    async close() {
      for (const db of all) await db.dropDatabase()
      await client.close()
    },
  }
}

async function fill(db: Db, size: number): Promise<void> {
  await db.dropDatabase()
  await insert(db.collection(Product.collection), size, (number) => {
    const record = product(number)
    return { ...record, _id: new ObjectId(record._id) }
  })
  await insert(db.collection(Order.collection), Math.ceil(size / PRODUCTS_PER_ORDER), (number) => {
    const { _id, product, quantity } = order(number)
    return { _id: new ObjectId(_id), product: new ObjectId(product), quantity }
  })
}

async function insert(
  into: Collection,
  size: number,
  recordOf: (number: number) => Document,
): Promise<void> {
  for (let from = 0; from < size; from += 10_000) {
    const batch = Array.from({ length: Math.min(10_000, size - from) }, (_, at) =>
      recordOf(from + at),
    )
    await into.insertMany(batch, { ordered: false })
  }
}

/** What fieldgate makes for itself. */
async function completePeers(db: Db, asked: Asked): Promise<void> {
  const products = db.collection(Product.collection)
  await products.createIndex({ price: -1, _id: 1 })
  await products.createIndex({ category: 1, price: -1, _id: 1 })
  await db.collection(Order.collection).createIndex({ product: 1 })
  const accounts = db.collection('accounts')
  await accounts.createIndex({ email: 1 }, { unique: true })
  await accounts.insertMany(
    accountsOf(asked).map((account) => ({ ...account, _id: new ObjectId(account._id) })),
  )
}
