/**
 * Products by Drizzle over postgres.js, with prepared queries as Drizzle's page on speed advises.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { and, count as countOf, eq, gt, ilike, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { bigint, boolean, doublePrecision, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { type ListQuery, pageOf, pagesOf } from '../paging.ts'
import { schema, url } from './address.ts'

const products = pgTable('products', {
  _id: text().primaryKey(),
  sku: text().notNull(),
  name: text().notNull(),
  category: text().notNull(),
  price: doublePrecision().notNull(),
  stock: bigint({ mode: 'number' }).notNull(),
  active: boolean().notNull(),
  description: text().notNull(),
  createdAt: timestamp({ withTimezone: true }).notNull(),
  updatedAt: timestamp({ withTimezone: true }).notNull(),
})
const db = drizzle(postgres(url, { connection: { search_path: schema } }))

const given = (name: string) => sql.placeholder(name)
const selected = (where?: SQL) => db.select().from(products).where(where)
const ordered = (where?: SQL) =>
  selected(where).orderBy(sql`${products.price} DESC NULLS LAST`, products._id)
const byId = selected(eq(products._id, given('id'))).prepare('by_id')
const first = ordered().limit(51).prepare('first')
const after = ordered(
  and(
    lte(products.price, given('price')),
    or(lt(products.price, given('price')), gt(products._id, given('id'))),
  ),
)
  .limit(51)
  .prepare('after')
const create = db
  .insert(products)
  .values({
    _id: given('_id'),
    sku: given('sku'),
    name: given('name'),
    category: given('category'),
    price: given('price'),
    stock: given('stock'),
    active: given('active'),
    description: given('description'),
    createdAt: given('createdAt'),
    updatedAt: given('updatedAt'),
  })
  .returning()
  .prepare('create')

/** The list and the count of what a condition selects. */
function listOf(name: string, where?: SQL) {
  const list = ordered(where).limit(50).offset(given('offset'))
  const counted = db.select({ total: countOf() }).from(products).where(where)
  return { list: list.prepare(`list_${name}`), counted: counted.prepare(`count_${name}`) }
}
const all = listOf('all')
const ofCategory = listOf('category', eq(products.category, given('category')))
const found = listOf('found', ilike(products.name, given('pattern')))

export async function findProduct(id: string): Promise<unknown> {
  const [row] = await byId.execute({ id })
  return row
}

export async function listProducts({ category, s, page }: ListQuery): Promise<object> {
  const pattern = `%${s?.replace(/[\\%_]/g, '\\$&')}%`
  const offset = (Number(page ?? 1) - 1) * 50
  const { list, counted } = s !== undefined ? found : category !== undefined ? ofCategory : all
  const asked = { category, pattern, offset }
  const rows = list.execute(asked)
  if (page === undefined) return { data: await rows }
  const [data, [count]] = await Promise.all([rows, counted.execute(asked)])
  return { data, pagination: pagesOf(Number(page), count?.total ?? 0) }
}

/** The records after `<price>_<id>`, or the first ones. */
export async function productsAfter(token: string): Promise<object> {
  if (token === '') return pageOf(await first.execute())
  const [price, id] = token.split('_')
  return pageOf(await after.execute({ price: Number(price), id }))
}

export async function createProduct(values: object): Promise<unknown> {
  const now = new Date()
  const row = { _id: randomBytes(12).toString('hex'), ...values, createdAt: now, updatedAt: now }
  const [created] = await create.execute(row)
  return created
}
