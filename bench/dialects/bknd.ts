/**
 * The works in bknd's words, and its answers in ours.
 *
 * @module
 */

import { pagesOf } from '../peers/paging.ts'
import { askedFor, type Dialect } from './dialect.ts'

const RECORDS = '/api/data/entity/products'

export const bkndDialect: Dialect = {
  asked: (requests) => ({ ...requests, paths: requests.paths.map(pathOf) }),
  answer: inEnvelope,
}

function pathOf(path: string): string {
  const asked = askedFor(path)
  if (!asked) return RECORDS
  const { id, category, term, page } = asked
  if (id !== null) return `${RECORDS}/${id}`
  const where = {
    ...(category !== null && { category }),
    ...(term !== null && { name: { $like: `%${term}%` } }),
  }
  const query = new URLSearchParams({ sort: '-price', limit: '50', where: JSON.stringify(where) })
  if (page !== null) query.set('offset', String((Number(page) - 1) * 50))
  return `${RECORDS}?${query}`
}

interface Stored {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
}

interface Answer {
  readonly data: Stored | readonly Stored[]
  readonly meta: { readonly count: number }
}

/** It counts every list; the totals are compared where they were asked for. */
function inEnvelope(text: string, _headers: Headers, path: string): string {
  const { data, meta } = JSON.parse(text) as Answer
  if (!isList(data)) return JSON.stringify({ success: true, data: record(data) })
  const offset = new URL(path, 'http://localhost').searchParams.get('offset')
  const pagination = offset === null ? undefined : pagesOf(Number(offset) / 50 + 1, meta.count)
  return JSON.stringify({ success: true, data: data.map(record), pagination })
}

function isList(data: Answer['data']): data is readonly Stored[] {
  return Array.isArray(data)
}

function record({ id, created_at: createdAt, updated_at: updatedAt, ...rest }: Stored): object {
  return { _id: id, ...rest, createdAt, updatedAt }
}
