/**
 * Rows that show in headers, and around records.
 *
 * @module
 */

import type { Compared } from './compare.ts'
import type { Rule } from './rule.ts'

const gone = (name: string, compared: Compared): boolean =>
  name in compared.there.headers && !(name in compared.here.headers)
const added = (name: string, compared: Compared): boolean => !gone(name, compared)

/** A rule for one header, which is only there or, unless `only` says so, only here. */
function header(
  row: string,
  name: string,
  direction: typeof gone,
  when: (compared: Compared) => boolean = () => true,
): Rule {
  return {
    row,
    explains: ({ facet }, compared) =>
      facet === `header ${name}` && direction(name, compared) && when(compared),
  }
}

const isRead = ({ pair }: Compared): boolean => ['GET', 'HEAD', 'QUERY'].includes(pair.method)
const wasPage = ({ there }: Compared): boolean => there.type === 'text/html'

/** The rules. */
export const headerRules: readonly Rule[] = [
  header('`X-Powered-By: Express`', 'x-powered-by', gone),
  header('no header names a request', 'x-request-id', added),
  header('a refusal has one form', 'vary', added, ({ here }) => here.status >= 400),
  header('has no `Cache-Control`', 'cache-control', added, isRead),
  header('a 201 says nothing of where', 'location', added, ({ here }) => here.status === 201),
  header('every JSON response has an `ETag`', 'etag', gone, (compared) => !readWell(compared)),
  header('QUERY is unknown', 'etag', added, ({ pair }) => pair.method === 'QUERY'),
  header('QUERY is unknown', 'accept-query', added, ({ pair }) => pair.method === 'OPTIONS'),
  header('a method that a path does not have', 'allow', added, ({ here }) => here.status === 405),
  header('refusals of Express itself', 'content-security-policy', gone, wasPage),
  header('refusals of Express itself', 'x-content-type-options', gone, wasPage),
  {
    row: 'the body of OPTIONS',
    explains: ({ facet }, { pair }) => facet === 'envelope' && pair.method === 'OPTIONS',
  },
  {
    row: 'refusals of Express itself',
    explains: ({ facet }, compared) =>
      facet === 'envelope' && compared.there.status >= 400 && wasPage(compared),
  },
  {
    row: 'a refusal is `{ "error"',
    explains: ({ facet }, { there, here }) =>
      facet === 'envelope' &&
      there.status >= 400 &&
      there.type === 'application/json' &&
      here.type === 'application/json',
  },
  {
    row: 'a DELETE says',
    explains: ({ facet }, { pair, there }) =>
      facet === 'envelope' && pair.method === 'DELETE' && there.status === 200,
  },
  {
    row: 'a page has `page`',
    explains: ({ facet, there, here }) =>
      facet === 'envelope' && hasMember(there, 'totalPages') && hasMember(here, 'pagination'),
  },
  {
    row: 'records come bare',
    explains: ({ facet, there }) =>
      facet === 'envelope' && (there === 'list' || there === 'record'),
  },
]

function readWell({ pair, here }: Compared): boolean {
  return ['GET', 'HEAD', 'QUERY'].includes(pair.method) && here.status === 200
}

function hasMember(value: unknown, name: string): boolean {
  return value !== null && typeof value === 'object' && name in value
}
