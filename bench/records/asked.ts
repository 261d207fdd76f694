/**
 * What the works ask for, told from the records' numbers alone.
 *
 * @module
 */

import { CATEGORIES, category, code, PRODUCTS_PER_ORDER, product, productId } from './products.ts'

/** The password of every account. */
export const PASSWORD = 'correct horse battery staple'

/** The records of a page. */
const PAGE_SIZE = 50

/** What the works ask for. */
export interface Asked {
  readonly size: number
  /** Ids spread over the collection. */
  readonly ids: readonly string[]
  readonly categories: readonly string[]
  /** Parts of names that one product each has. */
  readonly terms: readonly string[]
  /** Such parts of the names of products that were ordered. */
  readonly orderedTerms: readonly string[]
  /** The number of the last page of `-price`, and the last record before it. */
  readonly lastPage: number
  readonly anchor: { readonly number: number; readonly _id: string; readonly price: number }
  /** More accounts than connections: nobody signs in twice at once. */
  readonly emails: readonly string[]
}

/** What to ask of `size` records. */
export function askedOf(size: number): Asked {
  const spread = Array.from({ length: 1000 }, (_, at) => Math.floor((at * size) / 1000))
  const byPrice = Array.from({ length: size }, (_, number) => {
    const { _id, price } = product(number)
    return { number, _id, price }
  }).sort((a, b) => b.price - a.price || (a._id < b._id ? -1 : 1))
  const lastPage = Math.ceil(size / PAGE_SIZE)
  const anchor = byPrice[(lastPage - 1) * PAGE_SIZE - 1]
  if (!anchor) throw new Error('the bench needs more than one page of records')
  return {
    size,
    ids: spread.map(productId),
    categories: Array.from({ length: CATEGORIES }, (_, at) => category(at)),
    terms: spread.map(termOf),
    orderedTerms: spread.map((number) => termOf(number - (number % PRODUCTS_PER_ORDER))),
    lastPage,
    anchor,
    emails: Array.from({ length: 32 }, (_, at) => `user-${at}@bench.example`),
  }
}

function termOf(number: number): string {
  return code(number).slice(0, 5).toLowerCase()
}
