/**
 * Searches: for what few records have, for what many have, and through a reference.
 *
 * @module
 */

import type { Asked } from '../records/asked.ts'
import { ACCENTED, THINGS } from '../records/products.ts'
import { get, type Work } from '../work.ts'

/** Pairs of letters that no word of a name has: one product in 130 has one of them in its code. */
const PAIRS = ['zq', 'jx', 'qv', 'wx']

/** The peers are not asked: they all look at every record, as the limit does. */
export function searches({ terms, orderedTerms }: Asked): Work[] {
  return [
    searchFor('search', terms),
    { ...searchFor('search-word', THINGS), with: ['peers'] },
    searchFor('search-letters', PAIRS),
    // No name has a figure.
    searchFor('search-none', ['q7', '7q']),
    searchFor('search-accented', [ACCENTED, ACCENTED.slice(0, 4)]),
    searchFor('search-related', orderedTerms, '/orders'),
  ]
}

function searchFor(name: string, terms: readonly string[], path = '/products'): Work {
  const requests = get(...terms.map((term) => `${path}?s=${encodeURIComponent(term)}`))
  return { name, requests, with: [], seconds: 5 }
}
