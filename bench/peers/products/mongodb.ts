/**
 * Products by the official driver, asked in one way by every server that uses it.
 *
 * @module
 */

import { type Document, type Filter, MongoClient, ObjectId } from 'mongodb'
import { type ListQuery, pageOf, pagesOf } from '../paging.ts'

export const database = new MongoClient(process.argv[2] ?? '').db()
const products = database.collection('products')
const order = { price: -1, _id: 1 } as const

export function findProduct(id: string): Promise<unknown> {
  return products.findOne({ _id: new ObjectId(id) })
}

export async function listProducts({ category, s, page }: ListQuery): Promise<object> {
  const filter = {
    ...(category !== undefined && { category }),
    ...(s !== undefined && { name: { $regex: s.replace(/\W/g, '\\$&'), $options: 'i' } }),
  }
  const found = products.find(filter).sort(order).limit(50)
  if (page === undefined) return { data: await found.toArray() }
  const [data, totalRecords] = await Promise.all([
    found.skip((Number(page) - 1) * 50).toArray(),
    products.countDocuments(filter),
  ])
  return { data, pagination: pagesOf(Number(page), totalRecords) }
}

/** The records after `<price>_<id>`, or the first ones. */
export async function productsAfter(token: string): Promise<object> {
  const filter = token === '' ? {} : following(token)
  return pageOf(await products.find(filter).sort(order).limit(51).toArray())
}

function following(token: string): Filter<Document> {
  const [price, id = ''] = token.split('_')
  const after = { price: Number(price), _id: new ObjectId(id) }
  return {
    price: { $lte: after.price },
    $or: [{ price: { $lt: after.price } }, { _id: { $gt: after._id } }],
  }
}

export async function createProduct(values: object): Promise<object> {
  const now = new Date()
  const product = { _id: new ObjectId(), ...values, createdAt: now, updatedAt: now }
  await products.insertOne(product)
  return product
}
