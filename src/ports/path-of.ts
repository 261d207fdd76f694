/**
 * The path of a request, for routing, logs and traces.
 *
 * @module
 */

/**
 * A URL's path as it was sent, without query string. Read by hand: a Host that is none, as in `http://[::1/cities`,
 * makes a URL that cannot be parsed, and Bun gives the bare target where there is no Host at all.
 */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  const whole = end === -1 ? url : url.slice(0, end)
  if (whole.startsWith('/')) return whole
  const start = whole.indexOf('/', whole.indexOf('://') + 3)
  return start === -1 ? '/' : whole.slice(start)
}
