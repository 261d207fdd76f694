/**
 * The limit: the fastest that can be written by hand for each of these requests, on bare node:http and the official driver.
 * Commands are sent with `db.command`, which makes no cursor, and ids and dates become strings before `JSON.stringify` meets
 * them. No command is sent again if the connection is lost.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Document, MongoClient, ObjectId } from 'mongodb'
import { pageOf, pagesOf } from '../paging.ts'
import { sendOrders } from './orders-mongodb.ts'
import { bodyOf, CONSTANT, isPassword, listen, send, sendText, sign, verify } from './respond.ts'

const client = new MongoClient(process.argv[2] ?? '')
await client.connect()
const database = client.db()
const order = { price: -1, _id: 1 }
/** As fieldgate writes: a majority has it in its journal. */
const writeConcern = { w: 'majority', j: true }
const hot = new Map<string, string>()

listen((request, response, pathname, search) => {
  if (request.method === 'POST') {
    return pathname === '/auth/login' ? login(request, response) : create(request, response)
  }
  if (request.method === 'PATCH')
    return patch(pathname.slice('/products/'.length), request, response)
  if (pathname === '/products/constant') return sendText(response, CONSTANT)
  if (pathname === '/products') return list(new URLSearchParams(search), response)
  if (pathname === '/feed/products') return feed(new URLSearchParams(search), response)
  if (pathname === '/orders') return sendOrders(database, search, response)
  if (pathname === '/auth/me') return me(request, response)
  if (pathname.startsWith('/hot/')) return constant(pathname, response)
  return read(pathname.slice('/products/'.length), response)
})

/** The documents, with one round trip. */
async function find(collection: string, filter: Document, options: Document): Promise<Document[]> {
  const { cursor } = await database.command({
    find: collection,
    filter,
    singleBatch: true,
    ...options,
  })
  return cursor.firstBatch
}

/** A product with strings for ids and dates: `JSON.stringify` would leave its fast path for each of them. */
function plain(product: Document): Document {
  product._id = product._id.toHexString()
  product.createdAt = product.createdAt.toISOString()
  product.updatedAt = product.updatedAt.toISOString()
  return product
}

async function products(filter: Document, options: Document): Promise<Document[]> {
  return (await find('products', filter, options)).map(plain)
}

async function product(id: string): Promise<Document | undefined> {
  const [found] = await products({ _id: new ObjectId(id) }, { limit: 1 })
  return found
}

async function read(id: string, response: ServerResponse): Promise<void> {
  const data = await product(id)
  send(response, { success: true, data }, data ? 200 : 404)
}

async function list(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [category, term, page] = [query.get('category'), query.get('s'), query.get('page')]
  const filter = {
    ...(category !== null && { category }),
    ...(term !== null && { name: { $regex: term.replace(/\W/g, '\\$&'), $options: 'i' } }),
  }
  const skip = (Number(page ?? 1) - 1) * 50
  const found = products(filter, { sort: order, limit: 50, ...(skip > 0 && { skip }) })
  if (page === null) return send(response, { success: true, data: await found })
  const counting = database.command({ count: 'products', query: filter })
  const [data, { n }] = await Promise.all([found, counting])
  send(response, { success: true, data, pagination: pagesOf(Number(page), n) })
}

async function feed(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [price, id = ''] = query.get('after')?.split('_') ?? []
  const filter = price === undefined ? {} : following(Number(price), new ObjectId(id))
  const found = await products(filter, { sort: order, limit: 51 })
  send(response, { success: true, ...pageOf(found) })
}

function following(price: number, id: ObjectId): Document {
  return { price: { $lte: price }, $or: [{ price: { $lt: price } }, { _id: { $gt: id } }] }
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf<object>(request)
  const [_id, now] = [randomBytes(12).toString('hex'), new Date()]
  const stored = { _id: new ObjectId(_id), ...body, createdAt: now, updatedAt: now }
  const { writeErrors } = await database.command({
    insert: 'products',
    documents: [stored],
    writeConcern,
  })
  if (writeErrors) throw new Error('the product was refused')
  const at = now.toISOString()
  send(response, { success: true, data: { _id, ...body, createdAt: at, updatedAt: at } }, 201)
}

async function patch(
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf<object>(request)
  const { value } = await database.command({
    findAndModify: 'products',
    query: { _id: new ObjectId(id) },
    update: { $set: { ...body, updatedAt: new Date() } },
    new: true,
    writeConcern,
  })
  send(response, { success: true, data: value && plain(value) }, value ? 200 : 404)
}

/** The same text each time: what a cache could come to at best. */
async function constant(path: string, response: ServerResponse): Promise<void> {
  let text = hot.get(path)
  if (text === undefined) {
    const data = await product(path.slice('/hot/products/'.length))
    text = JSON.stringify({ success: true, data })
    hot.set(path, text)
  }
  sendText(response, text)
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { identifier, password } = await bodyOf<Record<string, string>>(request)
  const [account] = await find('accounts', { email: identifier }, { limit: 1 })
  if (!account || !(await isPassword(password ?? '', account.password))) {
    return send(response, { success: false, error: 'Invalid credentials.' }, 401)
  }
  const token = sign(String(account._id), account.role)
  send(response, { success: true, data: { token } })
}

async function me(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = verify(request.headers.authorization)
  const [account] =
    id === undefined ? [] : await find('accounts', { _id: new ObjectId(id) }, { limit: 1 })
  if (!account) return send(response, { success: false, error: 'Authentication required.' }, 401)
  const { password: _, ...data } = account
  send(response, { success: true, data })
}
