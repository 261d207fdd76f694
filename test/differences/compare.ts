/**
 * A pair's two responses, and in what they differ.
 *
 * @module
 */

import { isDeepStrictEqual } from 'node:util'
import type { Db } from 'mongodb'
import { seed, stored } from './data.ts'
import { CHOSEN, IDS, MAKERS, type Pair } from './pairs.ts'

/** One service's answer. */
export interface Answer {
  readonly status: number
  /** The media type. */
  readonly type: string
  /** JSON, else text. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  /** The database afterwards; undefined for reads. */
  readonly stored: unknown
}

/** What differs: the status, a header by its name, what is around the records, the records, and the database afterwards. */
export type Facet = 'status' | `header ${string}` | 'envelope' | 'records' | 'stored'

/** One difference. */
export interface Difference {
  readonly facet: Facet
  readonly there: unknown
  readonly here: unknown
}

/** A pair with both answers. */
export interface Compared {
  readonly pair: Pair
  readonly there: Answer
  readonly here: Answer
  readonly differences: readonly Difference[]
}

/** Those that each response has by nature. */
const RANDOM = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'])
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY'])

/** Asks the service at `url`, and leaves the data as it was: as it is at the beginning, which is `before`. */
export async function answer(url: string, pair: Pair, db: Db, before: unknown): Promise<Answer> {
  const writes = !SAFE.has(pair.method)
  const { method, headers, body } = pair
  const response = await fetch(`${url}${encodeURI(pair.path).replaceAll('%25', '%')}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const type = response.headers.get('Content-Type')?.split(';')[0] ?? ''
  const found = {
    status: response.status,
    type,
    body: type === 'application/json' ? withoutRandom(JSON.parse(text || 'null')) : text,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !RANDOM.has(name))),
    stored: writes ? await stored(db) : undefined,
  }
  if (writes && (response.ok || !isDeepStrictEqual(found.stored, before))) await seed(db)
  return found
}

/** Ids that were made anew, and ids of requests, are the same on both sides. */
function withoutRandom(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRandom)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([name, member]) => {
    if (name === 'requestId') return [name, 'random']
    const known = [...IDS, ...MAKERS, CHOSEN].includes(String(member))
    return [name, name === '_id' && !known ? 'new' : withoutRandom(member)]
  })
  return Object.fromEntries(entries)
}

/** Compares them facet by facet. What is around records, what they are and what is stored is compared of equal statuses alone. */
export function compare(pair: Pair, there: Answer, here: Answer): Compared {
  const names = new Set([...Object.keys(there.headers), ...Object.keys(here.headers)])
  const facets: Difference[] = [
    { facet: 'status', there: there.status, here: here.status },
    ...[...names].map((name) => ({
      facet: `header ${name}` as const,
      there: name in there.headers,
      here: name in here.headers,
    })),
  ]
  if (there.status === here.status)
    facets.push(
      { facet: 'envelope', there: shape(there), here: shape(here) },
      { facet: 'records', there: records(there.body), here: records(here.body) },
      { facet: 'stored', there: there.stored, here: here.stored },
    )
  const differences = facets.filter((facet) => !isDeepStrictEqual(facet.there, facet.here))
  return { pair, there, here, differences }
}

/** Which members are around the records, and what they are; the sentence of an error is not compared. */
function shape({ type, body, status }: Answer): unknown {
  if (type !== 'application/json') return type
  if (Array.isArray(body)) return 'list'
  if (body === null || typeof body !== 'object') return typeof body
  if ('_id' in body) return 'record'
  const members = Object.entries(body).filter(([name]) => name !== 'data' && name !== 'fields')
  return status < 400 ? Object.fromEntries(members) : Object.keys(body).sort()
}

/** The records of a body, wherever they are. */
export function records(body: unknown): unknown {
  if (Array.isArray(body)) return body
  if (body === null || typeof body !== 'object') return undefined
  if ('data' in body) return body.data
  return '_id' in body ? body : undefined
}
