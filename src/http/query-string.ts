/** Parses the query string once. Repeated parameters become lists. */

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
