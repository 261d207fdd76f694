/** What an index is on, from the server's words: of an index that another version of the app has made. */

import type { Column } from './columns.ts'

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
  const parts: string[][] = [[]]
  let depth = 0
  for (const word of listIn(text)) {
    if (word === '(') depth += 1
    if (word === ')') depth -= 1
    if (word === ',' && depth === 0) parts.push([])
    else parts.at(-1)?.push(word)
  }
  return parts.map((part) => partOf(plain(part), columns))
}

/** The fields of such a key. Empty if it names none. */
export function fieldsIn(text: string, columns: readonly Column[]): readonly string[] {
  return [...new Set(keyIn(text, columns).flatMap(({ fields }) => fields))]
}

/** The names in such a key. A name may be a word as well, if it needs no quotes. */
export function namesIn(text: string): readonly string[] {
  return namesOf(plain([...listIn(text)]))
}

function partOf(words: readonly string[], columns: readonly Column[]): KeyPart {
  const names = namesOf(words)
  const known = columns.filter(({ name }) => names.includes(name)).map(({ field }) => field)
  const path = pathIn(words, columns)
  const types = words.filter((word, at) => isString(word) && words[at - 1] === 'WHEN').map(textOf)
  const isDescending = words.includes('DESC')
  return { fields: path === undefined ? known : [path], types, isDescending }
}

/** The first path into JSON: a column, and the keys that follow in a row. */
function pathIn(words: readonly string[], columns: readonly Column[]): string | undefined {
  const isInside = (at: number) =>
    words[at] === '-' && words[at + 1] === '>' && isString(words[at + 2] ?? '')
  let at = words.findIndex((_, index) => isInside(index))
  const before = words[at - 1]
  if (before === undefined) return undefined
  const column = textOf(before)
  const keys = [columns.find(({ name }) => name === column)?.field ?? column]
  for (; isInside(at); at += 3) keys.push(textOf(words[at + 2] ?? ''))
  return keys.join('.')
}

const SIGNS = ['(', ')', ':']

function namesOf(words: readonly string[]): string[] {
  return words.filter((word) => isPlainWord(word) || word.startsWith('"')).map(textOf)
}

/** Without parentheses, functions, types, collations, and what is named with its schema: no column is. */
function plain(words: readonly string[]): string[] {
  return words.filter((word, at) => {
    const before = words[at - 1]
    const isCast = before === ':' && words[at - 2] === ':'
    const isFunction = isPlainWord(word) && words[at + 1] === '('
    const isQualified = [word, before, words[at + 1]].includes('.')
    return !(isCast || isFunction || isQualified || before === 'COLLATE' || SIGNS.includes(word))
  })
}

/** What the first parentheses have inside; what comes after them, a client may have written. */
function* listIn(text: string): Iterable<string> {
  let depth = 0
  for (const [word] of text.matchAll(WORDS)) {
    if (word === ')') depth -= 1
    if (depth === 0 && word === ')') return
    if (depth > 0) yield word
    if (word === '(') depth += 1
  }
}

/** Strings, names in quotes, other words, and signs. Within quotes, a quote that comes twice stands for itself. */
const WORDS = /E?'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w$]+|\S/g

/** What a word stands for. */
function textOf(word: string): string {
  if (word.startsWith('"')) return word.slice(1, -1).replaceAll('""', '"')
  if (!isString(word)) return word
  const text = word.slice(word.indexOf("'") + 1, -1).replaceAll("''", "'")
  return word.startsWith('E') ? text.replaceAll('\\\\', '\\') : text
}

function isString(word: string): boolean {
  return word.endsWith("'")
}

function isPlainWord(word: string): boolean {
  return /^[\w$]+$/.test(word)
}
