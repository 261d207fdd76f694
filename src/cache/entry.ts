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

/** The text of an entry that holds as long as `version` does. */
export function entryText(version: string, { body, etag }: Entry): string {
  return `${version}\n${etag}\n${body.length}\n${body}`
}

/** The entry in `text`, if it is one, is whole, and is of `version`. */
export function entryOf(text: unknown, version: string): Entry | undefined {
  if (typeof text !== 'string' || !text.startsWith(`${version}\n`)) return undefined
  const etagAt = version.length + 1
  const lengthAt = text.indexOf('\n', etagAt) + 1
  const bodyAt = text.indexOf('\n', lengthAt) + 1
  if (lengthAt === 0 || bodyAt === 0) return undefined
  if (Number(text.slice(lengthAt, bodyAt - 1)) !== text.length - bodyAt) return undefined
  return { etag: text.slice(etagAt, lengthAt - 1), body: text.slice(bodyAt) }
}
