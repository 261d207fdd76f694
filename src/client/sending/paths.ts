/**
 * A value as a part of a path. Escaping cannot carry an empty one, `.` and `..`, with which a URL leads elsewhere: requests
 * with those are refused before they are sent, by `checkPath`.
 */
export function inPath(value: unknown): string {
  // Half a character, which cannot be escaped either, is in no id.
  return encodeURIComponent(`${value ?? ''}`.replace(/\p{Cs}/gu, '\ufffd'))
}

/** Throws for the path of a request that has such a part. */
export function checkPath(path: string): void {
  path.replace(/\/(\.{0,2})([/?]|$)/, (_, part) => {
    throw new Error(`'${part}' can't be an id.`)
  })
}
