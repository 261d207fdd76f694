/**
 * The limit: bare node:http and node:sqlite, idiomatic code, no routing, answering the same bytes.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'

type Row = Record<string, SQLOutputValue>

const [path = ''] = process.argv.slice(2)
const db = new DatabaseSync(path)
// NORMAL loses the last commits when the power goes; it is what such a server would choose.
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000')

const columns =
  '_id, name, country, population, capital, latitude, longitude, geonameId, createdAt, updatedAt'
const byId = db.prepare(`SELECT ${columns} FROM city WHERE _id = ?`)
const byCountry = db.prepare(
  `SELECT ${columns} FROM city WHERE country = ? ORDER BY population DESC, _id LIMIT 50`,
)
const pageByOffset = db.prepare(
  `SELECT ${columns} FROM city ORDER BY population DESC, _id LIMIT 50 OFFSET ?`,
)
const count = db.prepare('SELECT count(*) AS total FROM city')
const anchor = db.prepare('SELECT population FROM city WHERE _id = ?')
const pageAfter = db.prepare(
  `SELECT ${columns} FROM city WHERE population <= ?1 AND (population < ?1 OR _id > ?2)
   ORDER BY population DESC, _id LIMIT 51`,
)
const insert = db.prepare(`INSERT INTO city (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'POST') return void create(request, response)
  const id = /^\/cities\/([0-9a-f]{24})$/.exec(url.pathname)?.[1]
  if (id !== undefined) return send(response, { success: true, data: city(byId.get(id)) })
  const country = url.searchParams.get('country')
  if (country !== null) {
    return send(response, { success: true, data: byCountry.all(country).map(city) })
  }
  const page = url.searchParams.get('page')
  return page === null ? cursorPage(url, response) : offsetPage(Number(page), response)
}).listen(0, '127.0.0.1', function (this: import('node:net').Server) {
  const address = this.address()
  console.log(`listening ${typeof address === 'object' ? address?.port : ''}`)
})

function offsetPage(page: number, response: ServerResponse): void {
  const data = pageByOffset.all((page - 1) * 50).map(city)
  const totalRecords = Number(count.get()?.total)
  const totalPages = Math.ceil(totalRecords / 50)
  const pagination = { currentPage: page, pageSize: 50, totalPages, totalRecords }
  send(response, { success: true, data, pagination })
}

/** Follows fieldgate's tokens, whose text begins with the anchor's id, without checking them. */
function cursorPage(url: URL, response: ServerResponse): void {
  const token = url.searchParams.get('cursor') ?? ''
  const id = Buffer.from(token, 'base64url').toString().slice(0, 24)
  const rows = pageAfter.all(anchor.get(id)?.population ?? null, id)
  const data = rows.slice(0, 50).map(city)
  const pagination = { pageSize: 50, hasMore: rows.length > 50, nextCursor: data.at(-1)?._id }
  send(response, { success: true, data, pagination })
}

async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string & number>
  const now = new Date().toISOString()
  const row: Row = {
    _id: randomBytes(12).toString('hex'),
    name: body.name ?? null,
    country: body.country ?? null,
    population: body.population ?? null,
    capital: Number(body.capital ?? 0),
    latitude: body.latitude ?? null,
    longitude: body.longitude ?? null,
    geonameId: null,
    createdAt: now,
    updatedAt: now,
  }
  insert.run(...Object.values(row))
  send(response, { success: true, data: city(row) }, 201)
}

function city(row: Row | undefined): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row ?? {})) {
    if (value !== null) shown[name] = name === 'capital' ? value === 1 : value
  }
  return shown
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}
