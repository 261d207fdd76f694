/**
 * The works that are measured, and the check that every server answers them alike.
 *
 * @module
 */

import type { BenchData } from './data.ts'
import type { Requests } from './load.ts'

/** One kind of work. */
export interface Work {
  readonly name: string
  readonly requests: Requests
}

/** The works over the given data. */
export function works(data: BenchData): Work[] {
  const get = (...paths: string[]): Requests => ({ method: 'GET', paths })
  const work = (name: string, requests: Requests): Work => ({ name, requests })
  const city = {
    name: 'Newtown',
    country: data.countries[0],
    population: 1234,
    capital: false,
    latitude: 1.5,
    longitude: 2.5,
  }
  return [
    work('read', get(...data.ids.map((id) => `/cities/${id}`))),
    work('list', get(...data.countries.map((country) => `/cities?country=${country}`))),
    work('offset-page-2000', get('/cities?page=2000&pageSize=50')),
    work('cursor-page-2000', get(`/feed/cities?pageSize=50&cursor=${data.cursorOfPage2000}`)),
    work('create', { method: 'POST', paths: ['/cities'], body: JSON.stringify(city) }),
  ]
}

const answers = new Map<string, string>()

/** Throws unless the server answers the work's first request as the servers before it did. */
export async function sameAnswers({ name, requests }: Work, base: string): Promise<void> {
  const { method, paths, body } = requests
  const response = await fetch(`${base}${paths[0]}`, {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
  })
  const seen = normalised(await response.text())
  const first = answers.get(name)
  if (!response.ok || (first !== undefined && first !== seen)) {
    throw new Error(`${name} is answered in two ways:\n${first}\n${seen}`)
  }
  answers.set(name, seen)
}

/** What may differ between two right answers: tokens, and the ids and times of new records. */
function normalised(body: string): string {
  const text = body.replace(/"nextCursor":"[^"]*"/, '"nextCursor":""')
  return text.includes('"Newtown"')
    ? text.replace(/"_id":"[0-9a-f]{24}"/, '"_id":""').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')
    : text
}
