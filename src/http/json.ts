/** Parses JSON that a client sent. */

import { HttpError } from './errors.ts'
import { invalidJson, tooManyBodyValues } from './refusals.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * How deeply lists and objects may nest. Any recursive walk of a value, `JSON.stringify` included, overflows the stack
 * at some thousands of levels, and not every runtime lets you catch that.
 */
const MAX_NESTING = 1000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The value of a body of JSON. Throws a 413 if it has more than `most` keys and values, and a 400 for anything that is not
 * JSON in UTF-8, or nests deeper than 1,000 levels. A byte order mark is skipped.
 */
export function parseJson(bytes: Uint8Array, most: number): unknown {
  try {
    const text = utf8.decode(bytes)
    // Each value takes two characters, as does each level, so ordinary bodies need no check.
    const isShort = text.length <= 2 * Math.min(MAX_NESTING, most)
    return isShort ? JSON.parse(text) : jsonParser(most)(text)
  } catch (error) {
    throw error instanceof HttpError ? error : invalidJson()
  }
}

/** Thrown for JSON that nests deeper than 1,000 levels. */
export class TooManyLevels extends Error {
  override readonly name = 'TooManyLevels'
}

/**
 * Parses the JSON texts of one body, such as the fields of a form. Throws a 413 once they have more than `most` keys and
 * values together, `TooManyLevels`, and a `SyntaxError` for anything that is not JSON.
 */
export function jsonParser(most: number): (text: string) => unknown {
  let left = most
  return (text) => {
    left -= valuesIn(text, left)
    if (left < 0) throw tooManyBodyValues(most)
    return JSON.parse(text)
  }
}

/**
 * The number of keys, and of lists, objects, strings and other values, in JSON; counting stops beyond `most`. It is counted
 * before it is parsed: some JSON is parsed at only two megabytes a second.
 */
function valuesIn(text: string, most: number): number {
  let count = 0
  let depth = 0
  for (let at = 0; at < text.length && count <= most; at += 1) {
    switch (text[at]) {
      case '"':
        count += 1
        at = endOfString(text, at)
        break
      case '[':
      case '{':
        count += 1
        depth += 1
        if (depth > MAX_NESTING) throw new TooManyLevels()
        break
      case ']':
      case '}':
        depth -= 1
        break
      case ',':
      case ':':
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        break
      default:
        count += 1
        at = endOfWord(text, at)
    }
  }
  return count
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; ) {
    at += code === BACKSLASH ? 2 : 1
    code = text.charCodeAt(at)
  }
  return at
}

const WORD = /[-+.\w]*/y

/** The position of the last character of the number, or the like, that begins at `start`. */
function endOfWord(text: string, start: number): number {
  WORD.lastIndex = start + 1
  WORD.test(text)
  return WORD.lastIndex - 1
}
