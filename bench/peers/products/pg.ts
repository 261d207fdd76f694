/**
 * Products by pg: a pool, and statements with names, which the server prepares once for each connection.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { type ListQuery, pageOf, pagesOf } from '../paging.ts'
import { schema, url } from './address.ts'

pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const pool = new pg.Pool({ connectionString: url, options: `-c search_path=${schema}` })

const names = [
  '_id',
  'sku',
  'name',
  'category',
  'price',
  'stock',
  'active',
  'description',
  'createdAt',
  'updatedAt',
]
const columns = names.map((name) => `"${name}"`).join(', ')
const select = `SELECT ${columns} FROM products`
const order = 'ORDER BY price DESC NULLS LAST, _id'
const placeholders = names.map((_, at) => `$${at + 1}`).join(', ')
const insert = `INSERT INTO products (${columns}) VALUES (${placeholders}) RETURNING ${columns}`

async function rowsOf(name: string, text: string, values: unknown[]): Promise<pg.QueryResultRow[]> {
  const { rows } = await pool.query({ name, text, values })
  return rows
}

export async function findProduct(id: string): Promise<unknown> {
  const [row] = await rowsOf('by-id', `${select} WHERE _id = $1`, [id])
  return row
}

export async function listProducts({ category, s, page }: ListQuery): Promise<object> {
  const [kind, where, value] = conditionOf(category, s)
  const values = value === undefined ? [] : [value]
  const offset = `OFFSET $${values.length + 1}`
  const found = rowsOf(`list-${kind}`, `${select} ${where} ${order} LIMIT 50 ${offset}`, [
    ...values,
    (Number(page ?? 1) - 1) * 50,
  ])
  if (page === undefined) return { data: await found }
  const count = `SELECT count(*) AS total FROM products ${where}`
  const [data, [counted]] = await Promise.all([found, rowsOf(`count-${kind}`, count, values)])
  return { data, pagination: pagesOf(Number(page), counted?.total) }
}

function conditionOf(category?: string, term?: string): [string, string, string?] {
  if (term !== undefined) {
    return ['found', 'WHERE name ILIKE $1', `%${term.replace(/[\\%_]/g, '\\$&')}%`]
  }
  return category === undefined ? ['all', ''] : ['of-category', 'WHERE category = $1', category]
}

/** The records after `<price>_<id>`, or the first ones. */
export async function productsAfter(token: string): Promise<object> {
  const last = `${order} LIMIT 51`
  if (token === '') return pageOf(await rowsOf('first', `${select} ${last}`, []))
  const [price, id] = token.split('_')
  const following = 'WHERE price <= $1 AND (price < $1 OR _id > $2)'
  return pageOf(await rowsOf('after', `${select} ${following} ${last}`, [Number(price), id]))
}

export async function createProduct(values: object): Promise<unknown> {
  const now = new Date()
  const row: Record<string, unknown> = {
    _id: randomBytes(12).toString('hex'),
    ...values,
    createdAt: now,
    updatedAt: now,
  }
  const [created] = await rowsOf(
    'insert',
    insert,
    names.map((name) => row[name]),
  )
  return created
}
