/**
 * The limit: bare node:http and the official driver, idiomatic code, no routing.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { MongoClient, ObjectId } from 'mongodb'
import { bodyOf, CONSTANT, isPassword, listen, send, sendText, sign, verify } from './respond.ts'

const client = new MongoClient(process.argv[2] ?? '')
const products = client.db().collection('products')
const accounts = client.db().collection('accounts')
const order = { price: -1, _id: 1 } as const
const hot = new Map<string, string>()

listen((request, response, url) => {
  const { pathname } = url
  if (request.method === 'POST') {
    return pathname === '/auth/login' ? login(request, response) : create(request, response)
  }
  if (pathname === '/products/constant') return sendText(response, CONSTANT)
  if (pathname === '/products') return list(url.searchParams, response)
  if (pathname === '/feed/products') return pageAfter(url.searchParams, response)
  if (pathname === '/auth/me') return me(request, response)
  if (pathname.startsWith('/hot/')) return constant(pathname, response)
  return read(pathname.slice('/products/'.length), response)
})

async function read(id: string, response: ServerResponse): Promise<void> {
  const data = await products.findOne({ _id: new ObjectId(id) })
  send(response, { success: true, data }, data ? 200 : 404)
}

async function list(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [category, term, page] = [query.get('category'), query.get('s'), query.get('page')]
  const filter = {
    ...(category !== null && { category }),
    ...(term !== null && { name: { $regex: term.replace(/\W/g, '\\$&'), $options: 'i' } }),
  }
  const found = products.find(filter).sort(order).limit(50)
  if (page === null) return send(response, { success: true, data: await found.toArray() })
  const [data, totalRecords] = await Promise.all([
    found.skip((Number(page) - 1) * 50).toArray(),
    products.countDocuments(filter),
  ])
  const pagination = {
    currentPage: Number(page),
    pageSize: 50,
    totalPages: Math.ceil(totalRecords / 50),
    totalRecords,
  }
  send(response, { success: true, data, pagination })
}

async function pageAfter(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [price, id = ''] = query.get('after')?.split('_') ?? []
  const after = { price: Number(price), _id: new ObjectId(id) }
  const filter = {
    price: { $lte: after.price },
    $or: [{ price: { $lt: after.price } }, { _id: { $gt: after._id } }],
  }
  const found = await products.find(filter).sort(order).limit(51).toArray()
  const data = found.slice(0, 50)
  const last = data.at(-1)
  const nextCursor = found.length > 50 ? `${last?.price}_${last?._id}` : null
  const pagination = { pageSize: 50, hasMore: nextCursor !== null, nextCursor }
  send(response, { success: true, data, pagination })
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const now = new Date()
  const body = await bodyOf<Record<string, unknown>>(request)
  const data = { _id: new ObjectId(), ...body, createdAt: now, updatedAt: now }
  await products.insertOne(data)
  send(response, { success: true, data }, 201)
}

/** The same text each time: what a cache could come to at best. */
async function constant(path: string, response: ServerResponse): Promise<void> {
  let text = hot.get(path)
  if (text === undefined) {
    const _id = new ObjectId(path.slice('/hot/products/'.length))
    text = JSON.stringify({ success: true, data: await products.findOne({ _id }) })
    hot.set(path, text)
  }
  sendText(response, text)
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { identifier, password } = await bodyOf<Record<string, string>>(request)
  const account = await accounts.findOne({ email: identifier })
  if (!account || !(await isPassword(password ?? '', account.password))) {
    return send(response, { success: false, error: 'Invalid credentials.' }, 401)
  }
  const token = sign(String(account._id), account.role)
  send(response, { success: true, data: { token } })
}

async function me(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = verify(request.headers.authorization)
  const account = id === undefined ? null : await accounts.findOne({ _id: new ObjectId(id) })
  if (!account) return send(response, { success: false, error: 'Authentication required.' }, 401)
  const { password: _, ...data } = account
  send(response, { success: true, data })
}
