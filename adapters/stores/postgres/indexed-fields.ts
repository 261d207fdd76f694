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
    const [start = '', ...inside] = part.split(INSIDE)
    const names = namesIn(start)
    const column = names.at(-1) ?? ''
    if (inside.length > 0) return [[fieldOf(column) ?? column, ...keysIn(part)].join('.')]
    return names.flatMap((name) => fieldOf(name) ?? [])
  })
  return [...new Set(fields)]
}

/** The names in an expression. */
export function namesIn(expression: string): readonly string[] {
  return expression.match(NAMES)?.map(unquoted) ?? []
}

/** In an expression, its names: types begin with `::`, functions end with `(`. */
const NAMES = /::[^\s"(),:]+|"[^"]*"|[^\s"(),:]+\(?/g

/** Follows a column of JSON, before a key. */
const INSIDE = ' -> '

/** The first keys in a row that lead into JSON. */
function keysIn(expression: string): string[] {
  const keys: string[] = []
  let between = ''
  for (const token of tokensIn(expression)) {
    if (!token.startsWith("'")) {
      between += token
      continue
    }
    const [, sign] = between.split(INSIDE)
    const isNext = between.replaceAll(')', '').startsWith(`::text${INSIDE}`)
    if (keys.length > 0 && !isNext) break
    const text = token.slice(1, -1).replaceAll("''", "'")
    keys.push(sign === 'E' ? text.replaceAll('\\\\', '\\') : text)
    between = ''
  }
  return keys
}

/** The parts of a list, whose commas are in no parentheses or quotes. */
function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const token of tokensIn(list)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if (token === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts
}

/** What is in quotes, as a whole, and every other character. */
function tokensIn(text: string): string[] {
  const tokens: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOfToken(text, at)
    tokens.push(text.slice(at, end))
    at = end
  }
  return tokens
}

function endOfToken(text: string, start: number): number {
  const quote = text[start]
  if (quote !== "'" && quote !== '"') return start + 1
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf(quote, at)
    if (at === -1) return text.length
    // Twice, it stands for itself.
    if (text[at + 1] !== quote) return at + 1
  }
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1) : name
}
