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
  const lastPage = Math.ceil(size / PAGE_SIZE)
  return {
    size,
    ids: spread.map(productId),
    categories: Array.from({ length: CATEGORIES }, (_, at) => category(at)),
    terms: spread.map(termOf),
    orderedTerms: spread.map((number) => termOf(number - (number % PRODUCTS_PER_ORDER))),
    lastPage,
    anchor: anchorOf(size, (lastPage - 1) * PAGE_SIZE),
    emails: Array.from({ length: 32 }, (_, at) => `user-${at}@bench.example`),
  }
}

/** The last of the first `count` of `size` records by `-price`, then by id. Numbers alone, because there may be many millions. */
function anchorOf(size: number, count: number): Asked['anchor'] {
  if (count === 0) throw new Error('the bench needs more than one page of records')
  const prices = Float64Array.from({ length: size }, (_, number) => product(number).price)
  const price = prices.toSorted()[size - count] ?? 0
  let left = count - prices.reduce((dearer, each) => dearer + (each > price ? 1 : 0), 0)
  const number = prices.findIndex((each) => {
    if (each === price) left -= 1
    return left === 0
  })
  return { number, _id: productId(number), price }
}

function termOf(number: number): string {
  return code(number).slice(0, 5).toLowerCase()
}
