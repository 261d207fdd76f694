/**
 * What an index is on, from the server's words: of an index that another version of the app has made.
 *
 * @module
 */

import type { Column } from './columns.ts'

/** A part of an index's key. */
export interface KeyPart {
  /** The field or path; several if another program's expression has several columns. */
  readonly fields: readonly string[]
  /** The types of JSON that it holds the values of. */
  readonly types: readonly string[]
  readonly isDescending: boolean
}

/**
 * The key in the first parentheses of `text`, as `CREATE INDEX`, the catalogue and errors write it:
 * `(email, (info -> 'code'::text) DESC)`.
 */
export function keyIn(text: string, columns: readonly Column[]): readonly KeyPart[] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of listIn(text)) {
    if (isSign(token, '(')) depth += 1
    if (isSign(token, ')')) depth -= 1
    if (isSign(token, ',') && depth === 0) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts.map((part) => partOf(part, columns))
}

/** The fields of such a key. Empty if it names none. */
export function fieldsIn(text: string, columns: readonly Column[]): readonly string[] {
  return [...new Set(keyIn(text, columns).flatMap(({ fields }) => fields))]
}

/** The names in such a key. */
export function namesIn(text: string): readonly string[] {
  return namesOf(plain([...listIn(text)]))
}

/** A name may be a word as well, if it needs no quotes. */
interface Token {
  readonly kind: 'name' | 'word' | 'string' | 'sign'
  readonly text: string
}

function partOf(part: readonly Token[], columns: readonly Column[]): KeyPart {
  const tokens = plain(part)
  const names = namesOf(tokens)
  const known = columns.filter(({ name }) => names.includes(name)).map(({ field }) => field)
  const path = pathIn(tokens, columns)
  const types = tokens.filter((token, at) => {
    const before = tokens[at - 1]
    return token.kind === 'string' && before?.kind === 'word' && before.text === 'WHEN'
  })
  return {
    fields: path === undefined ? known : [path],
    types: types.map(({ text }) => text),
    isDescending: tokens.some(({ kind, text }) => kind === 'word' && text === 'DESC'),
  }
}

/** The first path into JSON: a column, and the keys that follow in a row. */
function pathIn(tokens: readonly Token[], columns: readonly Column[]): string | undefined {
  const isInside = (at: number) =>
    isSign(tokens[at], '-') && isSign(tokens[at + 1], '>') && tokens[at + 2]?.kind === 'string'
  let at = tokens.findIndex((_, index) => isInside(index))
  const column = tokens[at - 1]?.text
  if (column === undefined) return undefined
  const keys = [columns.find(({ name }) => name === column)?.field ?? column]
  for (; isInside(at); at += 3) keys.push(tokens[at + 2]?.text ?? '')
  return keys.join('.')
}

function namesOf(tokens: readonly Token[]): string[] {
  return tokens.filter(({ kind }) => kind === 'name' || kind === 'word').map(({ text }) => text)
}

/** Without parentheses, functions, types and collations. */
function plain(tokens: readonly Token[]): Token[] {
  return tokens.filter((token, at) => {
    const [second, before, after] = [tokens[at - 2], tokens[at - 1], tokens[at + 1]]
    const isCast = isSign(before, ':') && isSign(second, ':')
    const isCollation = before?.kind === 'word' && before.text === 'COLLATE'
    const isFunction = token.kind === 'word' && isSign(after, '(')
    return (
      !(isCast || isCollation || isFunction) &&
      !isSign(token, '(') &&
      !isSign(token, ')') &&
      !isSign(token, ':')
    )
  })
}

/** What the first parentheses have inside; what comes after them, a client may have written. */
function* listIn(text: string): Iterable<Token> {
  let depth = 0
  for (const [word] of text.matchAll(WORDS)) {
    const token = tokenOf(word)
    if (isSign(token, ')')) depth -= 1
    if (depth === 0 && isSign(token, ')')) return
    if (depth > 0) yield token
    if (isSign(token, '(')) depth += 1
  }
}

/** Within quotes, a quote that comes twice stands for itself. */
const WORDS = /E?'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w$]+|\S/g

function tokenOf(word: string): Token {
  if (word.startsWith('"')) return { kind: 'name', text: word.slice(1, -1).replaceAll('""', '"') }
  if (word.endsWith("'")) {
    const text = word.slice(word.indexOf("'") + 1, -1).replaceAll("''", "'")
    return { kind: 'string', text: word.startsWith('E') ? text.replaceAll('\\\\', '\\') : text }
  }
  return { kind: /^[\w$]/.test(word) ? 'word' : 'sign', text: word }
}

function isSign(token: Token | undefined, sign: string): boolean {
  return token?.kind === 'sign' && token.text === sign
}
