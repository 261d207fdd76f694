/** JSON whose values are counted before it is parsed. */

import * as http from '../errors/refusals.ts'

/**
 * How deeply lists and objects may nest. Any recursive walk of a value, `JSON.stringify` included, overflows the stack
 * at some thousands of levels, and not every runtime lets you catch that.
 */
export const MAX_NESTING: number = 1000

const QUOTE = 0x22
const BACKSLASH = 0x5c

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
    if (left < 0) throw http.tooManyBodyValues(most)
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
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
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
