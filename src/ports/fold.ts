/**
 * Case folding that is the same on every store and runtime.
 *
 * @module
 */

/**
 * `text` by Unicode simple case folding, one code point to one: two texts differ only in case exactly when
 * their folds are equal. Independent of locale; accents stay (`É` folds to `é`, not to `e`).
 */
export function fold(text: string): string {
  let folded = ''
  for (const char of text) folded += foldChar(char)
  return folded
}

const ASCII_END = 0x80

function foldChar(char: string): string {
  if (char.charCodeAt(0) < ASCII_END) return char.toLowerCase()
  // Dotless ı upper-cases to I, yet folding keeps it apart from i (CaseFolding.txt, status T only).
  if (char === 'ı' || char === 'İ') return char
  const upper = char.toUpperCase()
  const folded = (isOne(upper) ? upper : char).toLowerCase()
  return isOne(folded) ? folded : char
}

function isOne(text: string): boolean {
  return text.length === 1 || (text.length === 2 && (text.codePointAt(0) ?? 0) > 0xffff)
}
