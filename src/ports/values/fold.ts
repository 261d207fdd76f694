/** Case folding that is the same on every store and runtime. */

/** Code units folded per call: this many arguments fit on every runtime's stack. */
const PIECE = 4096

/**
 * `text` by Unicode simple case folding, one code point to one: two strings differ only in case exactly when their
 * folds are equal. Independent of locale; accents stay (`É` folds to `é`, not to `e`).
 */
export function fold(text: string): string {
  // The built-in is many times as fast, and gives the same for ASCII.
  if (ASCII.test(text)) return text.toLowerCase()
  let folded = ''
  for (let at = 0; at < text.length; ) {
    // Don't split a surrogate pair.
    const end = at + PIECE
    const cut = isLead(text.charCodeAt(end - 1)) ? end + 1 : end
    folded += foldPiece(text.slice(at, cut))
    at = cut
  }
  return folded
}

const ASCII = /^[\0-\x7f]*$/

/**
 * What each code point below U+20000 folds to, filled in when first needed; 0 means not known yet. No higher code point
 * has a case.
 */
const known = new Uint32Array(0x20000)
const units = new Uint16Array(PIECE + 1)

function foldPiece(text: string): string {
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    let point = text.charCodeAt(at)
    if (isLead(point)) point = text.codePointAt(at) as number
    if (point > 0xffff) at += 1
    const folded = point < known.length ? known[point] || learn(point) : point
    if (folded <= 0xffff) units[length] = folded
    else {
      units[length] = 0xd7c0 + (folded >> 10)
      length += 1
      units[length] = 0xdc00 + (folded & 0x3ff)
    }
    length += 1
  }
  return String.fromCharCode.apply(null, units.subarray(0, length) as unknown as number[])
}

function learn(point: number): number {
  const folded = foldChar(String.fromCodePoint(point)).codePointAt(0) as number
  known[point] = folded
  return folded
}

function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
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
