/**
 * Dotted paths into records.
 *
 * @module
 */

/** Whether `path` is `outer`, or leads to something inside it. */
export function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`)
}
