/**
 * The limit: the fastest that can be written by hand for each of these requests, on bare node:http and node:sqlite. Records
 * are stored as the text that is sent, so that nothing is parsed or printed on a read. One prepared statement each.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { bodyOf, CONSTANT, isPassword, listen, send, sendText, sign, verify } from './respond.ts'

const [, , path = '', synchronous = 'FULL', walk = ''] = process.argv
const db = new DatabaseSync(path)
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA busy_timeout = 5000;
  PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -65536`)

const order = 'ORDER BY price DESC, _id'
const byId = db.prepare('SELECT json FROM product WHERE _id = ?')
const ofCategory = joined(`WHERE category = ? ${order} LIMIT 50 OFFSET ?`)
const ofAll = joined(`${order} LIMIT 50 OFFSET ?`)
// With the plain column, SQLite walks the index of prices and looks up each record: for a rare word that takes longer.
const sort = walk === '' ? '+price' : 'price'
const found = joined(`WHERE name LIKE ? ESCAPE '\\' ORDER BY ${sort} DESC, _id LIMIT 50`)
const orders = db.prepare(`SELECT group_concat(json) AS json FROM (SELECT json FROM orders
  WHERE product IN (SELECT _id FROM product WHERE name LIKE ? ESCAPE '\\') ORDER BY +_id LIMIT 50)`)
const countOfCategory = db.prepare('SELECT count(*) AS total FROM product WHERE category = ?')
const countOfAll = db.prepare('SELECT count(*) AS total FROM product')
const page = 'SELECT json, price, _id FROM product'
const first = db.prepare(`${page} ${order} LIMIT 51`)
const following = db.prepare(
  `${page} WHERE price <= ?1 AND (price < ?1 OR _id > ?2) ${order} LIMIT 51`,
)
const insert = db.prepare(
  'INSERT INTO product (_id, category, price, name, json) VALUES (?, ?, ?, ?, ?)',
)
const update = db.prepare(
  'UPDATE product SET category = ?, price = ?, name = ?, json = ? WHERE _id = ?',
)
const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]
const accountByEmail = db.prepare('SELECT * FROM account WHERE email = ?')
const accountById = db.prepare('SELECT _id, email, role FROM account WHERE _id = ?')
const hot = new Map<string, string>()

listen((request, response, pathname, search) => {
  if (request.method === 'POST') {
    return pathname === '/auth/login' ? login(request, response) : create(request, response)
  }
  if (request.method === 'PATCH')
    return patch(pathname.slice('/products/'.length), request, response)
  if (pathname === '/products/constant') return sendText(response, CONSTANT)
  if (pathname === '/products') return list(new URLSearchParams(search), response)
  if (pathname === '/feed/products') return pageAfter(new URLSearchParams(search), response)
  if (pathname === '/orders') return ordersOf(new URLSearchParams(search), response)
  if (pathname === '/auth/me') return me(request, response)
  if (pathname.startsWith('/hot/')) return constant(pathname, response)
  const end = pathname.lastIndexOf('/')
  const text = readers.get(pathname.slice(0, end))?.(pathname.slice(end + 1))
  return text === undefined ? send(response, { success: false }, 404) : sendText(response, text)
})

/** Records as one text: fifty rows cost more than one. */
function joined(which: string): StatementSync {
  return db.prepare(`SELECT group_concat(json) AS json FROM (SELECT json FROM product ${which})`)
}

/** What reads a record of each model; the last of them are the products. */
const readers = new Map(
  Array.from(
    { length: Number(process.env.BENCH_MODELS ?? 1) },
    (_, at) => [`/model-${at}`, jsonOf] as const,
  ),
).set('/products', jsonOf)

function jsonOf(id: string): string | undefined {
  const row = byId.get(id)
  return row && `{"success":true,"data":${row.json}}`
}

function list(query: URLSearchParams, response: ServerResponse): unknown {
  const [category, term, number] = [query.get('category'), query.get('s'), query.get('page')]
  const offset = (Number(number ?? 1) - 1) * 50
  if (term !== null) {
    const text = found.get(patternOf(term))?.json ?? ''
    return sendText(response, `{"success":true,"data":[${text}]}`)
  }
  const row = category === null ? ofAll.get(offset) : ofCategory.get(category, offset)
  const data = `{"success":true,"data":[${row?.json ?? ''}]`
  if (number === null) return sendText(response, `${data}}`)
  const counted = category === null ? countOfAll.get() : countOfCategory.get(category)
  const totalRecords = Number(counted?.total)
  const totalPages = Math.ceil(totalRecords / 50)
  const pagination = { currentPage: Number(number), pageSize: 50, totalPages, totalRecords }
  return sendText(response, `${data},"pagination":${JSON.stringify(pagination)}}`)
}

function ordersOf(query: URLSearchParams, response: ServerResponse): void {
  const text = orders.get(patternOf(query.get('s') ?? ''))?.json ?? ''
  sendText(response, `{"success":true,"data":[${text}]}`)
}

function patternOf(term: string): string {
  return `%${term.replace(/[\\%_]/g, '\\$&')}%`
}

function pageAfter(query: URLSearchParams, response: ServerResponse): void {
  const [price, id = ''] = query.get('after')?.split('_') ?? []
  const rows = price === undefined ? first.all() : following.all(Number(price), id)
  const shown = rows.slice(0, 50)
  const last = shown.at(-1)
  const nextCursor = rows.length > 50 ? `${last?.price}_${last?._id}` : null
  const pagination = JSON.stringify({ pageSize: 50, hasMore: nextCursor !== null, nextCursor })
  const data = shown.map(({ json }) => json).join()
  sendText(response, `{"success":true,"data":[${data}],"pagination":${pagination}}`)
}

/** What waits for the end of this turn, whose creates are one transaction. */
let waiting: (() => () => void)[] = []

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf<Record<string, string | number>>(request)
  const [_id, now] = [randomBytes(12).toString('hex'), new Date().toISOString()]
  const json = JSON.stringify({ _id, ...body, createdAt: now, updatedAt: now })
  if (waiting.length === 0) setImmediate(writeAll)
  waiting.push(() => {
    insert.run(_id, body.category ?? null, body.price ?? null, body.name ?? null, json)
    return () => sendText(response, `{"success":true,"data":${json}}`, 201)
  })
}

async function patch(
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf<object>(request)
  if (waiting.length === 0) setImmediate(writeAll)
  waiting.push(() => {
    const stored = byId.get(id)
    if (!stored) return () => send(response, { success: false }, 404)
    const updatedAt = new Date().toISOString()
    const record = { ...JSON.parse(String(stored.json)), ...body, updatedAt }
    const json = JSON.stringify(record)
    update.run(record.category, record.price, record.name, json, id)
    return () => sendText(response, `{"success":true,"data":${json}}`)
  })
}

function writeAll(): void {
  const writes = waiting
  waiting = []
  begin.run()
  const answers = writes.map((write) => write())
  commit.run()
  for (const answer of answers) answer()
}

/** The same text each time: what a cache could come to at best. */
function constant(path: string, response: ServerResponse): void {
  const text = hot.get(path) ?? jsonOf(path.slice('/hot/products/'.length)) ?? ''
  hot.set(path, text)
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
