/**
 * The words of a server that has a contract of its own.
 *
 * @module
 */

import type { Requests } from '../load.ts'

/** Turns requests and answers into those of a server, and back. */
export interface Dialect {
  /** The same requests, as the server wants them. */
  asked(requests: Requests): Requests
  /** Its answer to one of those paths in fieldgate's envelope; a list that was not counted has no pagination. */
  answer(text: string, headers: Headers, path: string): string
}

/** What a path of the works asks for; null for what it does not name. */
export interface Asked {
  readonly id: string | null
  readonly category: string | null
  readonly term: string | null
  readonly page: string | null
  readonly after: string | null
}

/** What `path` asks for of the products; undefined for the products as such, where they are created. */
export function askedFor(path: string): Asked | undefined {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  const id = /^\/products\/([0-9a-f]{24})$/.exec(pathname)?.[1] ?? null
  const [category = null, term = null, page = null, after = null] = [
    'category',
    's',
    'page',
    'after',
  ].map((name) => searchParams.get(name))
  const asked = { id, category, term, page, after }
  return Object.values(asked).some((value) => value !== null) ? asked : undefined
}
