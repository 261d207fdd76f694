/**
 * Products by Drizzle over postgres.js, with prepared queries as Drizzle's page on speed advises.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { and, eq, gt, ilike, lt, lte, or, type SQL, sql } from 'drizzle-orm'
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
const ordered = (where?: SQL) =>
  db
    .select()
    .from(products)
    .where(where)
    .orderBy(sql`${products.price} DESC NULLS LAST`, products._id)
const paged = (where?: SQL) => ordered(where).limit(50).offset(given('offset'))
const byId = db
  .select()
  .from(products)
  .where(eq(products._id, given('id')))
  .prepare('by_id')
const all = paged().prepare('all')
const ofCategory = paged(eq(products.category, given('category'))).prepare('of_category')
const found = paged(ilike(products.name, given('pattern'))).prepare('found')
const first = ordered().limit(51).prepare('first')
const after = ordered(
  and(
    lte(products.price, given('price')),
    or(lt(products.price, given('price')), gt(products._id, given('id'))),
  ),
)
  .limit(51)
  .prepare('after')

export async function findProduct(id: string): Promise<unknown> {
  const [row] = await byId.execute({ id })
  return row
}

export async function listProducts({ category, s, page }: ListQuery): Promise<object> {
  const pattern = `%${s?.replace(/[\\%_]/g, '\\$&')}%`
  const offset = (Number(page ?? 1) - 1) * 50
  const list = s !== undefined ? found : category !== undefined ? ofCategory : all
  const rows = list.execute({ category, pattern, offset })
  if (page === undefined) return { data: await rows }
  const where =
    s !== undefined
      ? ilike(products.name, pattern)
      : category !== undefined
        ? eq(products.category, category)
        : undefined
  const [data, total] = await Promise.all([rows, db.$count(products, where)])
  return { data, pagination: pagesOf(Number(page), total) }
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
  const [created] = await db
    .insert(products)
    .values(row as typeof products.$inferInsert)
    .returning()
  return created
}
