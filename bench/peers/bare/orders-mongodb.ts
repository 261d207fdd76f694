/**
 * The limit of a search through a reference on MongoDB: the products whose names have the term, then their orders.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import { database } from '../products/mongodb.ts'
import { send } from './respond.ts'

const [products, orders] = [database.collection('products'), database.collection('orders')]

/** Sends the first fifty orders of the products whose name has the term of `?s=`. */
export async function sendOrders(search: string, response: ServerResponse): Promise<void> {
  const term = new URLSearchParams(search).get('s') ?? ''
  const name = { $regex: term.replace(/\W/g, '\\$&'), $options: 'i' }
  const found = await products
    .find({ name }, { projection: { _id: 1 }, hint: { $natural: 1 } })
    .toArray()
  const product = { $in: found.map(({ _id }) => _id) }
  const data = await orders.find({ product }).sort({ _id: 1 }).limit(50).toArray()
  send(response, { success: true, data })
}
