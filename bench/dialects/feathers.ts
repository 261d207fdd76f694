/**
 * The works in the words of the Feathers app, and its answers in ours.
 *
 * @module
 */

import { pagesOf } from '../peers/paging.ts'
import { askedFor, type Dialect } from './dialect.ts'

export const feathersDialect: Dialect = {
  asked: (requests) => ({ ...requests, paths: requests.paths.map(pathOf) }),
  answer: inEnvelope,
}

function pathOf(path: string): string {
  const asked = askedFor(path)
  if (!asked || asked.id !== null) return path
  const { category, term, page, after } = asked
  const query = new URLSearchParams({ $limit: '50' })
  if (category !== null) query.set('category', category)
  if (term !== null) query.set('name[$ilike]', `%${term}%`)
  if (page !== null) query.set('$skip', String((Number(page) - 1) * 50))
  if (after !== null) {
    const [price = '', id = ''] = after.split('_')
    query.set('price[$lte]', price)
    query.set('$or[0][price][$lt]', price)
    query.set('$or[1][_id][$gt]', id)
  }
  return `/products?${query}`
}

interface Page {
  readonly total: number
  readonly limit: number
  readonly skip: number
  readonly data: readonly object[]
}

function inEnvelope(text: string): string {
  const answer = JSON.parse(text) as object | Page
  if (!('skip' in answer)) return JSON.stringify({ success: true, data: answer })
  const { total, limit, skip, data } = answer
  return JSON.stringify({ success: true, data, pagination: pagesOf(skip / limit + 1, total) })
}
