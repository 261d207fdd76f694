/**
 * The limit: the fastest that can be written by hand for each of these requests, on bare node:http and postgres.js. One
 * prepared statement each, as text that is never put together again; dates stay the text that the database sends.
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
  connection: { search_path: schema, TimeZone: 'UTC' },
  fetch_types: false,
  types: {
    bigint: { to: 20, from: [20], parse: Number, serialize: String },
    timestamp: { to: 1184, from: [1082, 1114, 1184], parse: iso, serialize: String },
  },
})

const columns = `_id, sku, name, category, price, stock, active, description, "createdAt", "updatedAt"`
const order = 'ORDER BY price DESC NULLS LAST, _id'
const all = `SELECT ${columns} FROM products`
const counts = 'SELECT count(*) AS total FROM products'
const byCategory = 'WHERE category = $1'
const byName = 'WHERE name ILIKE $1'
const byId = `${all} WHERE _id = $1`
const first = `${all} ${order} LIMIT 51`
const following = `${all} WHERE price <= $1 AND (price < $1 OR _id > $2) ${order} LIMIT 51`
const insert = `INSERT INTO products (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
const update = `UPDATE products SET price = $1, "updatedAt" = $2 WHERE _id = $3 RETURNING ${columns}`
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
  if (pathname === '/orders') return sendOrders(sql, search, response)
  if (pathname === '/auth/me') return me(request, response)
  if (pathname.startsWith('/hot/')) return constant(pathname, response)
  return read(pathname.slice('/products/'.length), response)
})

type Value = string | number | boolean

/** Without values, the driver would choose the protocol that can't prepare. */
const prepared = { prepare: true, simple: false }

function rowsOf(text: string, values: Value[] = []): Promise<postgres.Row[]> {
  return sql.unsafe(text, values, prepared)
}

/** `2023-11-14 22:13:20.5+00` as JSON has it. */
function iso(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
}

async function find(id: string): Promise<unknown> {
  const [row] = await rowsOf(byId, [id])
  return row
}

async function read(id: string, response: ServerResponse): Promise<void> {
  const data = await find(id)
  send(response, { success: true, data }, data ? 200 : 404)
}

async function list(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [category, term, page] = [query.get('category'), query.get('s'), query.get('page')]
  const [where, values] =
    term !== null
      ? [byName, [`%${term.replace(/[\\%_]/g, '\\$&')}%`]]
      : category === null
        ? ['', []]
        : [byCategory, [category]]
  const offset = (Number(page ?? 1) - 1) * 50
  const skip = offset === 0 ? '' : `OFFSET $${values.length + 1}`
  const found = rowsOf(
    `${all} ${where} ${order} LIMIT 50 ${skip}`,
    offset === 0 ? values : [...values, offset],
  )
  if (page === null) return send(response, { success: true, data: await found })
  const [data, [total]] = await Promise.all([found, rowsOf(`${counts} ${where}`, values)])
  send(response, { success: true, data, pagination: pagesOf(Number(page), total?.total) })
}

async function feed(query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [price, id = ''] = query.get('after')?.split('_') ?? []
  const rows = await (price === undefined ? rowsOf(first) : rowsOf(following, [Number(price), id]))
  send(response, { success: true, ...pageOf(rows) })
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf<Record<string, Value>>(request)
  const now = new Date().toISOString()
  const { sku, name, category, price, stock, active, description } = body
  const given = [sku, name, category, price, stock, active, description].map((value) => value ?? '')
  const _id = randomBytes(12).toString('hex')
  await rowsOf(insert, [_id, ...given, now, now])
  send(response, { success: true, data: { _id, ...body, createdAt: now, updatedAt: now } }, 201)
}

/** One field, in one statement; a program that takes any of them would put it together. */
async function patch(
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { price } = await bodyOf<{ price: number }>(request)
  const [data] = await rowsOf(update, [price, new Date().toISOString(), id])
  send(response, { success: true, data }, data ? 200 : 404)
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
  const [account] = await rowsOf('SELECT * FROM account WHERE email = $1', [identifier])
  if (!account || !(await isPassword(password, account.password))) {
    return send(response, { success: false, error: 'Invalid credentials.' }, 401)
  }
  send(response, { success: true, data: { token: sign(account._id, account.role) } })
}

async function me(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = verify(request.headers.authorization)
  const [data] =
    id === undefined
      ? []
      : await rowsOf('SELECT _id, email, role FROM account WHERE _id = $1', [id])
  if (!data) return send(response, { success: false, error: 'Authentication required.' }, 401)
  send(response, { success: true, data })
}
