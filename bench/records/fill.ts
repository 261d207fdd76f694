/**
 * The records in a store of fieldgate's.
 *
 * @module
 */

import type { Store } from '../../src/index.ts'
import { Order, Product } from '../fieldgate/app.ts'
import { order, PRODUCTS_PER_ORDER, product } from './products.ts'

const BATCH = 5000

/** Puts `size` products, and the orders of them, into an empty store, and closes it. */
export async function fillStore(store: Store, size: number): Promise<void> {
  const [products, orders] = [schemaOf(Product), schemaOf(Order)]
  await store.prepare([products, orders])
  await fill(size, (number) => store.collection(products).insert({ ...product(number) }))
  const ordered = Math.ceil(size / PRODUCTS_PER_ORDER)
  await fill(ordered, (number) => store.collection(orders).insert({ ...order(number) }))
  await store.close()
}

async function fill(size: number, insert: (number: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < size; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - from) }, (_, at) => from + at)
    await Promise.all(numbers.map(insert))
  }
}

function schemaOf({
  collection: name,
  idType,
  shape,
  declared,
  absence,
  unique,
  indexes,
}: typeof Product | typeof Order) {
  return { name, idType, shape, declared, absence, unique, indexes, searchable: [] }
}
