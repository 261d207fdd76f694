/**
 * Rows that show in the status.
 *
 * @module
 */

import type { Compared } from './compare.ts'
import { queryOf, type Rule, sentIn } from './rule.ts'

/** A rule for responses with another status: `from` there and `to` here. */
function status(
  row: string,
  from: readonly number[],
  to: number,
  when: (compared: Compared) => boolean = () => true,
): Rule {
  return {
    row,
    explains: ({ facet }, compared) =>
      facet === 'status' &&
      from.includes(compared.there.status) &&
      compared.here.status === to &&
      when(compared),
  }
}

const isList = ({ pair }: Compared): boolean => /^\/items(\?|$)/.test(pair.path)
const lists = (part: RegExp) => (compared: Compared) =>
  compared.pair.method === 'GET' && isList(compared) && part.test(queryOf(compared.pair))
const typed = (type: string) => (compared: Compared) =>
  (compared.pair.headers['Content-Type'] ?? '').includes(type)
const method =
  (...names: string[]) =>
  ({ pair }: Compared) =>
    names.includes(pair.method)
const sends =
  (holds: (name: string, value: unknown) => boolean) =>
  ({ pair }: Compared) =>
    Object.entries(sentIn(pair)).some(([name, value]) => holds(name, value))

/** Whether nothing of a body may be written here: what is left after all names that a client never writes. */
const nothingLeft = ({ pair }: Compared): boolean =>
  Object.keys(sentIn(pair)).every((name) => name === 'colour' || isNeverWritable(name))

function isNeverWritable(name: string): boolean {
  return name === '_id' || name === '__v' || name.startsWith('$') || name.includes('.')
}

/** Values that keep no rule of their field. */
function isInvalid(name: string, value: unknown): boolean {
  return (
    (name === 'price' && value === -1) ||
    (name === 'status' && (value === 'gone' || value === 7)) ||
    ((name === 'name' || name === 'stock') && value === null)
  )
}

const NULLS_OF_ENUMS = sends((name, value) => name === 'status' && value === null)
const EMPTY_TEXTS = sends((name, value) => name === 'name' && value === '')

/** The rules. */
export const statusRules: readonly Rule[] = [
  status('`PUT /:id` changes a record', [200], 405, method('PUT')),
  status('QUERY is unknown', [404], 200, method('QUERY')),
  status('a method that a path does not have', [404], 405),
  status('paths are matched in any case', [200], 404, ({ pair }) => pair.path === '/Items'),
  status("a body whose type isn't JSON is a 500", [500], 415),
  status('JSON may come in UTF-16', [400], 415, typed('utf-16')),
  status('a body has at most 100 kB', [413], 201),
  status('any 12 characters are an id', [404, 500], 400, ({ pair }) =>
    pair.path.includes('abcdefghijkl'),
  ),

  status('operators in a URL reach the database', [200, 500], 400, lists(/\[/)),
  status('`sort`, `s`, ranges', [200, 500], 400, lists(/\b(sort|cursor)=/)),
  status('a value in a URL that cannot be cast', [500], 400, lists(/=(cheap|maybe|never|acme)/)),
  status('values are cast freely', [200, 500], 400, lists(/=(0x10|January)/)),
  status('`page=-1` is a 500', [500], 200, lists(/\bpage=-1/)),

  status('an array creates a record of each', [500], 400, ({ pair }) => isArray(pair.body)),
  status('a unique value that is taken', [500], 409),
  status(
    'a new record may choose its `_id`',
    [500],
    201,
    sends((name) => name === '_id'),
  ),
  status('an empty text counts as missing', [500], 201, EMPTY_TEXTS),
  status("an enumeration doesn't take `null`", [500], 201, NULLS_OF_ENUMS),
  status('a failed validation', [500], 400, method('POST')),
  ...[200, 404].map((to) => status('a PATCH with operators', [500], to, sends(isOperator))),
  status(
    'a PATCH with operators',
    [200, 500],
    400,
    (compared) => method('PATCH')(compared) && nothingLeft(compared) && sends(isOperator)(compared),
  ),
  ...[200, 400, 404].map((to) =>
    status(
      'a PATCH of `_id`',
      [500],
      to,
      sends((name) => name === '_id'),
    ),
  ),
  status(
    'a PATCH may set `__v`',
    [200],
    400,
    (compared) => nothingLeft(compared) && sends((name) => name === '__v')(compared),
  ),
  status(
    'a body with nothing to write',
    [200],
    400,
    (compared) => method('PATCH')(compared) && nothingLeft(compared),
  ),
  status(
    'a PATCH keeps no rule',
    [200],
    400,
    (compared) => method('PATCH')(compared) && sends(isInvalid)(compared),
  ),
  status('a value that cannot be cast in a PATCH', [500], 400, method('PATCH')),
  status('a PATCH is looked up before it is checked', [404], 400, method('PATCH')),
  status('values are cast freely', [200, 201], 400, method('POST', 'PATCH')),
]

function isOperator(name: string): boolean {
  return name.startsWith('$') || name.includes('.')
}

function isArray(body = ''): boolean {
  return body.startsWith('[')
}
