/**
 * The limit: bare node:http and node:sqlite, idiomatic code, no routing.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { bodyOf, CONSTANT, isPassword, listen, send, sendText, sign, verify } from './respond.ts'

type Row = Record<string, SQLOutputValue>

const db = new DatabaseSync(process.argv[2] ?? '')
// NORMAL loses the last commits when the power goes; it is what such a server would choose.
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000')

const columns = '_id, sku, name, category, price, stock, active, description, createdAt, updatedAt'
const order = 'ORDER BY price DESC, _id LIMIT 50'
const byId = db.prepare(`SELECT ${columns} FROM product WHERE _id = ?`)
const ofCategory = db.prepare(`SELECT ${columns} FROM product WHERE category = ? ${order} OFFSET ?`)
const ofAll = db.prepare(`SELECT ${columns} FROM product ${order} OFFSET ?`)
const found = db.prepare(`SELECT ${columns} FROM product WHERE name LIKE ? ESCAPE '\\' ${order}`)
const countOfCategory = db.prepare('SELECT count(*) AS total FROM product WHERE category = ?')
const countOfAll = db.prepare('SELECT count(*) AS total FROM product')
const following = db.prepare(
  `SELECT ${columns} FROM product WHERE price <= ?1 AND (price < ?1 OR _id > ?2)
   ORDER BY price DESC, _id LIMIT 51`,
)
const first = db.prepare(`SELECT ${columns} FROM product ORDER BY price DESC, _id LIMIT 51`)
const insert = db.prepare(`INSERT INTO product (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
const accountByEmail = db.prepare('SELECT * FROM account WHERE email = ?')
const accountById = db.prepare('SELECT _id, email, role FROM account WHERE _id = ?')
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
  const row = byId.get(pathname.slice('/products/'.length))
  return send(response, { success: true, data: row && product(row) }, row ? 200 : 404)
})

function list(query: URLSearchParams, response: ServerResponse): unknown {
  const [category, term, page] = [query.get('category'), query.get('s'), query.get('page')]
  const offset = (Number(page ?? 1) - 1) * 50
  if (term !== null) {
    const rows = found.all(`%${term.replace(/[\\%_]/g, '\\$&')}%`)
    return send(response, { success: true, data: rows.map(product) })
  }
  const rows = category === null ? ofAll.all(offset) : ofCategory.all(category, offset)
  const data = rows.map(product)
  if (page === null) return send(response, { success: true, data })
  const counted = category === null ? countOfAll.get() : countOfCategory.get(category)
  const totalRecords = Number(counted?.total)
  const totalPages = Math.ceil(totalRecords / 50)
  const pagination = { currentPage: Number(page), pageSize: 50, totalPages, totalRecords }
  return send(response, { success: true, data, pagination })
}

function pageAfter(query: URLSearchParams, response: ServerResponse): void {
  const [price, id = ''] = query.get('after')?.split('_') ?? []
  const rows = price === undefined ? first.all() : following.all(Number(price), id)
  const data = rows.slice(0, 50).map(product)
  const last = data.at(-1)
  const nextCursor = rows.length > 50 ? `${last?.price}_${last?._id}` : null
  const pagination = { pageSize: 50, hasMore: nextCursor !== null, nextCursor }
  send(response, { success: true, data, pagination })
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf<Record<string, SQLOutputValue>>(request)
  const now = new Date().toISOString()
  const row: Row = {
    _id: randomBytes(12).toString('hex'),
    sku: body.sku ?? null,
    name: body.name ?? null,
    category: body.category ?? null,
    price: body.price ?? null,
    stock: body.stock ?? null,
    active: Number(body.active),
    description: body.description ?? null,
    createdAt: now,
    updatedAt: now,
  }
  insert.run(...Object.values(row))
  send(response, { success: true, data: product(row) }, 201)
}

function product(row: Row): Row {
  return { ...row, active: (row.active === 1) as unknown as SQLOutputValue }
}

/** The same text each time: what a cache could come to at best. */
function constant(path: string, response: ServerResponse): void {
  let text = hot.get(path)
  if (text === undefined) {
    const row = byId.get(path.slice('/hot/products/'.length))
    text = JSON.stringify({ success: true, data: row && product(row) })
    hot.set(path, text)
  }
  sendText(response, text)
}

async function login(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { identifier = '', password = '' } = await bodyOf<Record<string, string>>(request)
  const account = accountByEmail.get(identifier)
  if (!account || !(await isPassword(password, String(account.password)))) {
    return send(response, { success: false, error: 'Invalid credentials.' }, 401)
  }
  send(response, {
    success: true,
    data: { token: sign(String(account._id), String(account.role)) },
  })
}

function me(request: IncomingMessage, response: ServerResponse): unknown {
  const id = verify(request.headers.authorization)
  const account = id === undefined ? undefined : accountById.get(id)
  if (!account) return send(response, { success: false, error: 'Authentication required.' }, 401)
  return send(response, { success: true, data: account })
}
