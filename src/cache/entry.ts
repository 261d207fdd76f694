/**
 * A cached answer as the text that a cache keeps.
 *
 * @module
 */

/** An answer as it is kept: the body that is sent, and its entity tag. */
export interface Entry {
  readonly body: string
  readonly etag: string
}

/**
 * The text of the entry under `key` that holds as long as `version` does. It names its key: a client that mixes up
 * the replies of its server must not show one user what another one has asked for.
 */
export function entryText(version: string, key: string, { body, etag }: Entry): string {
  return `${version}\n${key}\n${etag}\n${body.length}\n${body}`
}

/** The entry in `text`, if it is one, is whole, and is that of `key` and `version`. */
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
