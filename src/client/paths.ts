/** Values in the paths of requests. */

/**
 * A value as a part of a path. Escaping cannot carry an empty one, `.` and `..`, so requests with those are refused before
 * they are sent.
 */
export function inPath(value: unknown): string {
  // Half a character, which cannot be escaped either, is in no id.
  return encodeURIComponent(`${value ?? ''}`.replace(/\p{Cs}/gu, '\ufffd'))
}
