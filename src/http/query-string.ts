/**
 * The query string, read once: repeated parameters as lists, object-shaped ones known as such.
 *
 * @module
 */

/** A request's parameters: the text, or the list of texts where a name was repeated. */
export type Query = Readonly<Record<string, string | string[]>>

/** No parameters at all. */
export const noQuery: Query = Object.freeze(Object.create(null))

/** Reads a URL's parameters by `application/x-www-form-urlencoded`; names keep brackets as they are. */
export function parseQuery(url: string): Query {
  const start = url.indexOf('?')
  if (start === -1) return noQuery
  const end = url.indexOf('#', start)
  // A name is the client's choice, so the object has no prototype that a name could meet.
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

/** The names that stand before a bracket, as in `price[$ne]=0` and `price[]=0`. */
export function objectShaped(query: Query): ReadonlySet<string> {
  const names = new Set<string>()
  for (const name in query) {
    const bracket = name.indexOf('[')
    if (bracket > 0) names.add(name.slice(0, bracket))
  }
  return names
}
