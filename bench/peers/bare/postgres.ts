/**
 * The limit: bare node:http and postgres.js, idiomatic code, no routing.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import postgres from 'postgres'
import { pageOf, pagesOf } from '../paging.ts'
import { schema, url } from '../products/address.ts'
import { sendOrders } from './orders-postgres.ts'
import { bodyOf, CONSTANT, isPassword, listen, send, sendText, sign, verify } from './respond.ts'

const sql = postgres(url, {
  connection: { search_path: schema },
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
})

const columns = sql`_id, sku, name, category, price, stock, active, description, "createdAt", "updatedAt"`
const order = sql`ORDER BY price DESC NULLS LAST, _id`
const hot = new Map<string, string>()

listen((request, response, pathname, search) => {
  if (request.method === 'POST') {
    return pathname === '/auth/login' ? login(request, response) : create(request, response)
  }
  if (pathname === '/products/constant') return sendText(response, CONSTANT)
  if (pathname === '/products') return list(new URLSearchParams(search), response)
  if (pathname === '/feed/products') return feed(new URLSearchParams(search), response)
  if (pathname === '/orders') return sendOrders(sql, search, response)
  if (pathname === '/auth/me') return me(request, response)
  if (pathname.startsWith('/hot/')) return constant(pathname, response)
  return read(pathname.slice('/products/'.length), response)
})

async function find(id: string): Promise<unknown> {
  const [row] = await sql`SELECT ${columns} FROM products WHERE _id = ${id}`
  return row
}

async function read(id: string, response: ServerResponse): Promise<void> {
  const data = await find(id)
  send(response, { success: true, data }, data ? 200 : 404)
}

async function list(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [category, term, page] = [query.get('category'), query.get('s'), query.get('page')]
  const offset = (Number(page ?? 1) - 1) * 50
  const where =
    term !== null
      ? sql`WHERE name ILIKE ${`%${term.replace(/[\\%_]/g, '\\$&')}%`}`
      : category === null
        ? sql``
        : sql`WHERE category = ${category}`
  const found = sql`SELECT ${columns} FROM products ${where} ${order} LIMIT 50 OFFSET ${offset}`
  if (page === null) return send(response, { success: true, data: await found })
  const counted = sql<{ total: string }[]>`SELECT count(*) AS total FROM products ${where}`
  const [data, [total]] = await Promise.all([found, counted])
  send(response, { success: true, data, pagination: pagesOf(Number(page), Number(total?.total)) })
}

async function feed(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [price, id = ''] = query.get('after')?.split('_') ?? []
  const where =
    price === undefined
      ? sql``
      : sql`WHERE price <= ${Number(price)} AND (price < ${Number(price)} OR _id > ${id})`
  const rows = await sql`SELECT ${columns} FROM products ${where} ${order} LIMIT 51`
  send(response, { success: true, ...pageOf(rows) })
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf<Record<string, string | number | boolean>>(request)
  const now = new Date()
  const row = { _id: randomBytes(12).toString('hex'), ...body, createdAt: now, updatedAt: now }
  const [data] = await sql`INSERT INTO products ${sql(row)} RETURNING ${columns}`
  send(response, { success: true, data }, 201)
}

/** The same text each time: what a cache could come to at best. */
async function constant(path: string, response: ServerResponse): Promise<void> {
  let text = hot.get(path)
  if (text === undefined) {
    text = JSON.stringify({ success: true, data: await find(path.slice('/hot/products/'.length)) })
    hot.set(path, text)
  }
  sendText(response, text)
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { identifier = '', password = '' } = await bodyOf<Record<string, string>>(request)
  const [account] = await sql`SELECT * FROM account WHERE email = ${identifier}`
  if (!account || !(await isPassword(password, account.password))) {
    return send(response, { success: false, error: 'Invalid credentials.' }, 401)
  }
  send(response, { success: true, data: { token: sign(account._id, account.role) } })
}

async function me(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = verify(request.headers.authorization)
  const [data] =
    id === undefined ? [] : await sql`SELECT _id, email, role FROM account WHERE _id = ${id}`
  if (!data) return send(response, { success: false, error: 'Authentication required.' }, 401)
  send(response, { success: true, data })
}
