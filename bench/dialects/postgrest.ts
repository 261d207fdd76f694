/**
 * The works in PostgREST's words, and its answers in ours.
 *
 * @module
 */

import type { Requests } from '../load.ts'
import { askedFor, type Dialect } from './dialect.ts'

/** What makes PostgREST answer with one record, where it would answer with a list of one. */
const ONE = { Accept: 'application/vnd.pgrst.object+json' }

export const postgrestDialect: Dialect = {
  asked(requests) {
    return {
      ...requests,
      paths: requests.paths.map(pathOf),
      headers: headersFor(requests),
    }
  },
  answer(text, headers) {
    const answer = JSON.parse(text) as Stored | readonly Stored[]
    if (!isList(answer)) return JSON.stringify({ success: true, data: record(answer) })
    const pagination = paginationOf(headers.get('Content-Range') ?? '')
    return JSON.stringify({
      success: true,
      data: answer.map(record),
      ...(pagination && { pagination }),
    })
  },
}

function pathOf(path: string): string {
  const asked = askedFor(path)
  if (!asked) return '/products'
  const { id, category, term, page, after } = asked
  if (id !== null) return `/products?_id=eq.${id}`
  const query = new URLSearchParams({ order: 'price.desc.nullslast,_id', limit: '50' })
  if (category !== null) query.set('category', `eq.${category}`)
  if (term !== null) query.set('name', `ilike.*${term}*`)
  if (page !== null) query.set('offset', String((Number(page) - 1) * 50))
  if (after !== null) {
    const [price, last] = after.split('_')
    query.set('price', `lte.${price}`)
    query.set('or', `(price.lt.${price},_id.gt.${last})`)
  }
  return `/products?${query}`
}

function headersFor({ method, paths: [path = ''] }: Requests): Record<string, string> {
  if (method === 'POST') return { ...ONE, Prefer: 'return=representation' }
  if (!path.includes('?')) return ONE
  return path.includes('page=') ? { Prefer: 'count=exact' } : {}
}

interface Stored {
  readonly createdAt: string
  readonly updatedAt: string
}

function isList(answer: Stored | readonly Stored[]): answer is readonly Stored[] {
  return Array.isArray(answer)
}

/** What `0-49/5000` says; nothing where the list was not counted. */
function paginationOf(range: string): object | undefined {
  const [, from, total] = /^(\d+)-\d+\/(\d+)$/.exec(range) ?? []
  if (total === undefined) return undefined
  const totalRecords = Number(total)
  const totalPages = Math.ceil(totalRecords / 50)
  return { currentPage: Number(from) / 50 + 1, pageSize: 50, totalPages, totalRecords }
}

function record(stored: Stored): object {
  const { createdAt, updatedAt } = stored
  return { ...stored, createdAt: iso(createdAt), updatedAt: iso(updatedAt) }
}

function iso(time: string): string {
  return new Date(time).toISOString()
}
