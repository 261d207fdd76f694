/** Case folding that is the same on every store and runtime. */

const ASCII = /^[\0-\x7f]*$/

/** What `toLowerCase` leaves as it is, though it has the capital of another letter: `ſ`, `µ`, the final `ς` and the like. */
const OTHER_FORMS =
  /[\u0345\u00b5\u017f\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80-\u1c88\u1e9b\u1fbe]/g

/**
 * `text` by Unicode simple case folding, one code point to one: two strings differ only in case exactly when their
 * folds are equal. Independent of locale; accents stay (`É` folds to `é`, not to `e`).
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  // In lower case it is two code points. It folds to itself (CaseFolding.txt, status T only).
  if (text.includes('İ')) return text.split('İ').map(fold).join('İ')
  return text.toLowerCase().replace(OTHER_FORMS, (form) => form.toUpperCase().toLowerCase())
}
