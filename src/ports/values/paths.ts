/** Dotted paths into records. */

/** Whether `path` is `outer`, or leads to something inside it. */
export function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`)
}

/** The top-level field that `path` is, or leads into. */
export function topOf(path: string): string {
  return path.split('.', 1)[0] ?? path
}

/**
 * A URL's path as it was sent, without query string. Parsed by hand: an invalid Host, as in `http://[::1/cities`, makes
 * a URL that cannot be parsed, and Bun gives only the path if there is no Host at all.
 */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  const whole = end === -1 ? url : url.slice(0, end)
  if (whole.startsWith('/')) return whole
  const start = whole.indexOf('/', whole.indexOf('://') + 3)
  return start === -1 ? '/' : whole.slice(start)
}
