/**
 * Conditional requests (RFC 9110 13.1): whether the client already has the response, and whether a record is still what
 * the client has read.
 *
 * @module
 */

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/** Whether `If-None-Match` names the body with `etag`; weak tags count too. */
export function isKnownToClient(headers: Headers, etag: string): boolean {
  const header = headers.get('if-none-match')
  if (header === null) return false
  if (header === etag || header.trim() === '*') return true
  return tagsIn(header).some((tag) => tag === etag || tag === `W/${etag}`)
}

/** The condition in `If-Match`: none, any version, or one of these tags. */
export function ifMatch(headers: Headers): 'none' | 'any' | readonly string[] {
  const header = headers.get('if-match')
  if (header === null) return 'none'
  // A weak tag says nothing about bytes, so it never equals a strong one.
  return header.trim() === '*' ? 'any' : tagsIn(header)
}

function tagsIn(header: string): readonly string[] {
  return header.match(TAG) ?? []
}
