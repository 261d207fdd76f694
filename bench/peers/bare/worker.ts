/**
 * The limit on Workers with D1: a bare Worker that sends stored text as it is.
 *
 * @module
 */

/** What is used of a D1 binding. */
interface Database {
  prepare(sql: string): Statement
}

interface Statement {
  bind(...values: readonly (string | number)[]): Statement
  first(column: string): Promise<string | null>
  run(): Promise<unknown>
}

const PAGE = `SELECT group_concat(json) AS json FROM
  (SELECT json FROM product WHERE category = ? ORDER BY price DESC, _id LIMIT 50)`
const INSERT = 'INSERT INTO product (_id, category, price, name, json) VALUES (?, ?, ?, ?, ?)'

export default {
  async fetch(request: Request, { DB }: { readonly DB: Database }): Promise<Response> {
    if (request.method === 'POST') return create(request, DB)
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/products') {
      const rows = await DB.prepare(PAGE)
        .bind(searchParams.get('category') ?? '')
        .first('json')
      return sent(`[${rows ?? ''}]`)
    }
    const id = pathname.slice('/products/'.length)
    const row = await DB.prepare('SELECT json FROM product WHERE _id = ?').bind(id).first('json')
    return row === null ? new Response(null, { status: 404 }) : sent(row)
  },
}

async function create(request: Request, db: Database): Promise<Response> {
  const body = (await request.json()) as Record<'category' | 'name', string> & { price: number }
  const now = new Date().toISOString()
  const _id = [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
  const json = JSON.stringify({ _id, ...body, createdAt: now, updatedAt: now })
  await db.prepare(INSERT).bind(_id, body.category, body.price, body.name, json).run()
  return sent(json, 201)
}

function sent(data: string, status = 200): Response {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' }
  return new Response(`{"success":true,"data":${data}}`, { status, headers })
}
