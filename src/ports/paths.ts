/**
 * Dotted paths into records.
 *
 * @module
 */

/** Whether `path` is `outer`, or leads to something inside it. */
export function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`)
}

/** The top-level field that `path` is, or leads into. */
export function topOf(path: string): string {
  return path.split('.', 1)[0] ?? path
}
