/**
 * The fields that an index is on, from the server's words: of an index that another version of the app has made.
 *
 * @module
 */

import type { Column } from './columns.ts'

/**
 * The fields of an index's key, as errors and the catalogue write it: `email, (info -> 'code'::text)`. Empty if it names
 * none.
 */
export function fieldsIn(key: string, columns: readonly Column[]): readonly string[] {
  const fieldOf = (name: string) => columns.find((column) => column.name === name)?.field
  const fields = partsOf(key).flatMap((part) => {
    const [, start = '', path = ''] = INSIDE.exec(part) ?? []
    if (path !== '')
      return [[fieldOf(unquoted(start)) ?? unquoted(start), ...keysIn(path)].join('.')]
    return namesIn(part).flatMap((name) => fieldOf(name) ?? [])
  })
  return [...new Set(fields)]
}

/** The names in an expression. */
export function namesIn(expression: string): readonly string[] {
  return expression.match(NAMES)?.map(unquoted) ?? []
}

/** In an expression, its names: types begin with `::`, functions end with `(`. */
const NAMES = /::[^\s"(),:]+|"[^"]*"|[^\s"(),:]+\(?/g

/** A column of JSON, and what leads into it. */
const INSIDE = /("[^"]*"|[^\s"(),:]+)((?:\)* -> E?'(?:[^']|'')*'::text)+)/

function keysIn(path: string): string[] {
  return [...path.matchAll(/(E?)'((?:[^']|'')*)'/g)].map(([, escaped, key = '']) => {
    const text = key.replaceAll("''", "'")
    return escaped ? text.replaceAll('\\\\', '\\') : text
  })
}

/** The parts of a list, whose commas are in no parentheses or quotes. */
function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [token] of list.matchAll(/'(?:[^']|'')*'|"[^"]*"|[^'"]/gs)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if (token === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1) : name
}
