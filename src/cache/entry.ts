/**
 * A cached response as the string that a cache keeps.
 *
 * @module
 */

/** A cached response: its body and its entity tag. */
export interface Entry {
  readonly body: string
  readonly etag: string
}

/**
 * The string of the entry under `key`, valid as long as `version` is. It contains its key: if a client library mixes up
 * its server's replies, one user must not see another's response.
 */
export function entryJson(version: string, key: string, { body, etag }: Entry): string {
  return `${version}\n${key}\n${etag}\n${body.length}\n${body}`
}

/** Parses an entry; undefined unless it is complete and belongs to `key` and `version`. */
export function entryOf(text: unknown, version: string, key: string): Entry | undefined {
  const start = `${version}\n${key}\n`
  if (typeof text !== 'string' || !text.startsWith(start)) return undefined
  const etagAt = start.length
  const lengthAt = text.indexOf('\n', etagAt) + 1
  const bodyAt = text.indexOf('\n', lengthAt) + 1
  if (lengthAt === 0 || bodyAt === 0) return undefined
  if (Number(text.slice(lengthAt, bodyAt - 1)) !== text.length - bodyAt) return undefined
  return { etag: text.slice(etagAt, lengthAt - 1), body: text.slice(bodyAt) }
}
