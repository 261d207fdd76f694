/**
 * Parses the query string once. Repeated parameters become lists; object-shaped ones (`a[b]=`) are recognised.
 *
 * @module
 */

/** A request's parameters: a string each, or a list of strings if a name is repeated. */
export type Query = Readonly<Record<string, string | string[]>>

/** No parameters. */
export const noQuery: Query = Object.freeze(Object.create(null))

/** Parses a URL's parameters as `application/x-www-form-urlencoded`; brackets stay in the names. */
export function parseQuery(url: string): Query {
  const start = url.indexOf('?')
  if (start === -1) return noQuery
  const end = url.indexOf('#', start)
  // Clients choose the names, so the object has no prototype that a name could collide with.
  const query: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(
    url.slice(start + 1, end === -1 ? undefined : end),
  )) {
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}

/** The names before a bracket, as in `price[$ne]=0` and `price[]=0`. */
export function objectShaped(query: Query): ReadonlySet<string> {
  const names = new Set<string>()
  for (const name in query) {
    const bracket = name.indexOf('[')
    if (bracket > 0) names.add(name.slice(0, bracket))
  }
  return names
}
