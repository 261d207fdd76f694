/**
 * The limit of a search through a reference on PostgreSQL: the products whose names have the term, then their orders.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import type postgres from 'postgres'
import { send } from './respond.ts'

/** Sends the first fifty orders of the products whose name has the term of `?s=`. */
export async function sendOrders(
  sql: postgres.Sql<{ bigint: number }>,
  search: string,
  response: ServerResponse,
): Promise<void> {
  const term = new URLSearchParams(search).get('s') ?? ''
  const pattern = `%${term.replace(/[\\%_]/g, '\\$&')}%`
  // Apart, so that the order of the result does not lead PostgreSQL through the orders one by one.
  const data = await sql`
    WITH found AS MATERIALIZED (SELECT _id FROM products WHERE name ILIKE ${pattern})
    SELECT _id, product, quantity FROM orders WHERE product IN (SELECT _id FROM found)
    ORDER BY _id LIMIT 50`
  send(response, { success: true, data })
}
