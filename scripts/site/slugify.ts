/**
 * Anchors of headings, by GitHub's rule, so that a link works there and on the site.
 *
 * @module
 */

/** The anchor of a heading's plain text. */
export function slugify(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}
