/**
 * Comparing secrets.
 *
 * @module
 */

/** Whether two texts are the same; takes the same time for every difference, so none is found byte by byte. */
export function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < b.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}
