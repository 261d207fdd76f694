/**
 * Literal, case-insensitive search as a regular expression.
 *
 * @module
 */

import { fold } from '../../../../src/ports/fold.ts'

/** No letter beyond has a case (test/stores/mongodb/contains.long.test.ts checks every code point). */
const CASED_END = 0x1f000

let folding: ReadonlyMap<string, string> | undefined

/**
 * A regular expression that finds `text` by fieldgate's own folding: each character becomes the class of all characters
 * with the same fold, because the database's `i` option folds differently from the other stores.
 */
export function containsPattern(text: string): string {
  folding ??= charactersByFold()
  return Array.from(fold(text), (char) => folding?.get(char) ?? escaped(char)).join('')
}

/** Characters that differ only in case, as a class, by their common fold. */
function charactersByFold(): Map<string, string> {
  const classes = new Map<string, string>()
  for (let code = 0; code < CASED_END; code++) {
    const char = String.fromCodePoint(code)
    const folded = fold(char)
    if (folded !== char) classes.set(folded, (classes.get(folded) ?? folded) + char)
  }
  for (const [folded, chars] of classes) classes.set(folded, `[${chars}]`)
  return classes
}

/** A character as a pattern that matches it. */
export function escaped(char: string): string {
  if (char === '\0') return '\\x00'
  return /[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/.test(char) ? `\\${char}` : char
}
