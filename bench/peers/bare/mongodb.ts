/**
 * The limit: bare node:http and the official driver, idiomatic code, no routing.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ObjectId } from 'mongodb'
import {
  createProduct,
  database,
  findProduct,
  listProducts,
  productsAfter,
} from '../products/mongodb.ts'
import { sendOrders } from './orders-mongodb.ts'
import { bodyOf, CONSTANT, isPassword, listen, send, sendText, sign, verify } from './respond.ts'

const accounts = database.collection('accounts')
const hot = new Map<string, string>()

listen((request, response, pathname, search) => {
  if (request.method === 'POST') {
    return pathname === '/auth/login' ? login(request, response) : create(request, response)
  }
  if (pathname === '/products/constant') return sendText(response, CONSTANT)
  if (pathname === '/products') return list(new URLSearchParams(search), response)
  if (pathname === '/feed/products') return feed(new URLSearchParams(search), response)
  if (pathname === '/orders') return sendOrders(search, response)
  if (pathname === '/auth/me') return me(request, response)
  if (pathname.startsWith('/hot/')) return constant(pathname, response)
  return read(pathname.slice('/products/'.length), response)
})

async function read(id: string, response: ServerResponse): Promise<void> {
  const data = await findProduct(id)
  send(response, { success: true, data }, data ? 200 : 404)
}

async function list(query: URLSearchParams, response: ServerResponse): Promise<void> {
  send(response, { success: true, ...(await listProducts(Object.fromEntries(query))) })
}

async function feed(query: URLSearchParams, response: ServerResponse): Promise<void> {
  send(response, { success: true, ...(await productsAfter(query.get('after') ?? '')) })
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const data = await createProduct(await bodyOf<object>(request))
  send(response, { success: true, data }, 201)
}

/** The same text each time: what a cache could come to at best. */
async function constant(path: string, response: ServerResponse): Promise<void> {
  let text = hot.get(path)
  if (text === undefined) {
    const data = await findProduct(path.slice('/hot/products/'.length))
    text = JSON.stringify({ success: true, data })
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
