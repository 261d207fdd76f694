/**
 * The works in PocketBase's words, and its answers in ours.
 *
 * @module
 */

import { askedFor, type Dialect } from './dialect.ts'

const RECORDS = '/api/collections/products/records'

export const pocketbaseDialect: Dialect = {
  asked: (requests) => ({ ...requests, paths: requests.paths.map(pathOf) }),
  answer: inEnvelope,
}

function pathOf(path: string): string {
  const asked = askedFor(path)
  if (!asked) return RECORDS
  const { id, category, term, page, after } = asked
  if (id !== null) return `${RECORDS}/${id}`
  const [price, last] = after?.split('_') ?? []
  const filter = [
    category === null ? '' : `category='${category}'`,
    term === null ? '' : `name~'${term}'`,
    after === null ? '' : `price<=${price}&&(price<${price}||id>'${last}')`,
  ].find((part) => part !== '')
  const query = new URLSearchParams({ perPage: '50', sort: '-price,id' })
  if (filter !== undefined) query.set('filter', `(${filter})`)
  if (page === null) query.set('skipTotal', '1')
  else query.set('page', String(page))
  return `${RECORDS}?${query}`
}

interface Stored {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
}

interface Page {
  readonly items: readonly Stored[]
  readonly page: number
  readonly perPage: number
  readonly totalItems: number
  readonly totalPages: number
}

function inEnvelope(text: string): string {
  const answer = JSON.parse(text) as Stored | Page
  if (!('items' in answer)) return JSON.stringify({ success: true, data: record(answer) })
  const { items, page, perPage, totalItems, totalPages } = answer
  const pagination = {
    currentPage: page,
    pageSize: perPage,
    totalPages,
    totalRecords: totalItems,
  }
  return JSON.stringify({
    success: true,
    data: items.map(record),
    ...(totalItems >= 0 && { pagination }),
  })
}

function record(stored: Stored): object {
  const { id, createdAt, updatedAt, ...rest } = stored
  const fields = Object.entries(rest).filter(([name]) => !name.startsWith('collection'))
  return {
    _id: id,
    ...Object.fromEntries(fields),
    createdAt: createdAt.replace(' ', 'T'),
    updatedAt: updatedAt.replace(' ', 'T'),
  }
}
